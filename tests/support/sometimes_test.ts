import { assertEquals } from "@std/assert";
import {
  checkSometimes,
  sometimes,
  sometimesLogged,
  sometimesMeasured,
} from "./sometimes.ts";

Deno.test("a long run in which a path stays zero fails, a short one does not", () => {
  const lines: string[] = [];
  const check = (runs: number) =>
    checkSometimes("failover", runs, (line) => lines.push(line));
  sometimes("503 answered", 2);
  sometimesMeasured(
    'seller_db_retries_total{reason="deadlock"} 1\n' +
      'seller_db_retries_total{reason="lost"} 0\n',
  );
  sometimesLogged([{ event: "started" }, { event: "not_ready" }]);
  assertEquals([check(0), check(1)], [true, false]);
  assertEquals(
    lines.at(-1),
    "NEVER REACHED in 1 runs: retry after a lost connection",
  );
  sometimes("retry after a lost connection");
  assertEquals(check(1), true);
  assertEquals(
    lines.at(-1),
    "reached: 503 answered 2, retry after a deadlock 1, " +
      "retry after a lost connection 1",
  );
});
