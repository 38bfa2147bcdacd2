import { assertEquals } from "@std/assert";
import {
  marked,
  markedLease,
  newJobMark,
} from "../../../src/images/worker/job_mark.ts";

Deno.test("image worker: the job that exhausted its memory stays known, whatever it inspects next", () => {
  const mark = newJobMark();
  const during = marked(mark, "first", () => new Uint8Array(mark).slice());
  assertEquals(markedLease(mark), null);
  // The thread skipped the `finally` block.
  new Uint8Array(mark).set(during);
  assertEquals(marked(mark, "second", () => markedLease(mark)), "first");
  assertEquals(markedLease(mark), "first");
});
