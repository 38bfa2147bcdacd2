import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createHash } from "node:crypto";
import { imageFile } from "../../src/images/image.ts";
import type { ImageStore } from "../../src/images/storage/blob_store.ts";
import {
  isStorageError,
  storeFailureOf,
} from "../../src/images/storage/failure.ts";
import { SimulatedStore } from "./image_store.ts";
import { TestKernel } from "./test_kernel.ts";

const NEVER = new AbortController().signal;
const LARGE = new Uint8Array(300_000).fill(7);
const SMALL = new Uint8Array(30).fill(7);

class Bench {
  readonly kernel: TestKernel;
  readonly simulated: SimulatedStore;
  readonly store: ImageStore;

  constructor(kind: "folder" | "bucket", seed: number) {
    this.kernel = new TestKernel(seed);
    this.simulated = new SimulatedStore(this.kernel, kind);
    this.store = this.simulated.open(this.kernel.clock);
  }

  fail(name: string): () => void {
    return this.simulated.faults.find((fault) => fault.name === name)!.begin();
  }

  async keep(bytes: Uint8Array, abort = NEVER): Promise<string> {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const file = imageFile({ sha256, type: "png" });
    const incoming = this.store.receive("lease");
    try {
      incoming.append(bytes);
      incoming.content();
      await incoming.keep(file, abort);
      return file;
    } finally {
      await incoming.discard();
    }
  }
}

function onBoth(rule: string, check: (bench: Bench) => Promise<void>): void {
  for (const kind of ["folder", "bucket"] as const) {
    Deno.test(`simulated ${kind}: ${rule}`, async () => {
      for (let seed = 1; seed <= 10; seed++) {
        const bench = new Bench(kind, seed);
        await bench.kernel.run(check(bench));
      }
    });
  }
}

onBoth(
  "a planned fault is an error of the store until the fault ends",
  async (bench) => {
    for (const trouble of ["is full", "is away", "refuses"]) {
      const end = bench.fail(`the image store ${trouble}`);
      const error = await assertRejects(() => bench.keep(SMALL), Error);
      assertEquals(isStorageError(error), true, String(error));
      assertEquals(storeFailureOf(error).full, trouble === "is full");
      assertThrows(() => bench.store.prepare(true));
      await assertRejects(() => bench.store.probe());
      bench.kernel.faulty = false;
      await bench.store.stat(await bench.keep(SMALL));
      bench.kernel.faulty = true;
      end();
      await bench.store.probe();
    }
  },
);

onBoth("a full store can still be read", async (bench) => {
  const file = await bench.keep(SMALL);
  bench.fail("the image store is full");
  assertEquals((await bench.store.stat(file))?.bytes, SMALL.length);
});

onBoth("a stall ends, or is an outage", async (bench) => {
  const end = bench.fail("the image store does not answer");
  const kept = bench.keep(LARGE).then(() => true, (error) => {
    assertEquals(isStorageError(error), true);
    return false;
  });
  await bench.kernel.sleep(60_000);
  end();
  await kept;
  await bench.keep(LARGE);
});

onBoth("an abort ends requests that wait for a bucket", async (bench) => {
  if (bench.simulated.isFolder) return;
  bench.fail("the image store is slow");
  const abort = new AbortController();
  bench.kernel.after(20, () => abort.abort(new Error("on purpose")));
  const begun = bench.kernel.time;
  const file = await bench.keep(SMALL, abort.signal).catch(() => null);
  if (file === null) assertEquals(bench.kernel.time - begun, 20);
});

onBoth(
  "a crash keeps stored files and nothing that was not flushed",
  async (bench) => {
    const file = await bench.keep(LARGE);
    bench.store.receive("other").append(LARGE);
    bench.simulated.crash();
    assertEquals((await bench.store.stat(file))?.bytes, LARGE.length);
    const part = bench.simulated.files.get("other.part");
    assertEquals((part?.bytes.length ?? 0) <= LARGE.length, true);
    const swept = await bench.store.sweepTemporaryFiles(Infinity);
    assertEquals(swept, part === undefined ? 0 : 1);
    assertEquals([...bench.simulated.files.keys()], [file]);
  },
);

Deno.test("simulated folder: a folder that returns empty waits for its mark", async () => {
  const bench = new Bench("folder", 1);
  await bench.kernel.run((async () => {
    const file = await bench.keep(SMALL);
    const mark = bench.fail("the image store comes back empty");
    assertEquals(await bench.store.missing([file]), [file]);
    bench.store.prepare(false);
    const error = await assertRejects(() => bench.store.probe());
    assertEquals(isStorageError(error), true);
    mark();
    await bench.store.probe();
    bench.fail("the image store comes back empty");
    bench.store.prepare(true);
    assertEquals(await bench.keep(SMALL), file);
  })());
});

Deno.test("simulated folder: nothing reaches a process that has died", async () => {
  const { kernel, simulated } = new Bench("folder", 1);
  const store = simulated.open(kernel.clock, () => {});
  let isSettled = false;
  store.probe().finally(() => isSettled = true);
  await kernel.run(kernel.sleep(1_000));
  assertEquals(isSettled, false);
});
