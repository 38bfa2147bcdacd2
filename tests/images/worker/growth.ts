/**
 * Prints, as JSON, how many bytes stay on the heap for each fetched image, by
 * kind of store:
 *
 * deno run -A --v8-flags=--expose-gc tests/images/worker/growth.ts
 */
import { systemClock, systemIds } from "../../../src/deps.ts";
import {
  imageStoreSettings,
  openImageStore,
} from "../../../src/images/storage/open.ts";
import type { ImageStore } from "../../../src/images/storage/blob_store.ts";
import { ImageFetcher } from "../../../src/images/worker/download.ts";
import { newJobMark } from "../../../src/images/worker/job_mark.ts";
import { openOutbound } from "../../net/support.ts";
import { testConfig } from "../../support/config.ts";
import { ImageHost } from "../../support/image_host.ts";
import { temporaryFolder } from "../../support/process.ts";
import { S3Server } from "../../support/s3_server.ts";

/** Warms up buffers, connections and compiled code. */
const BEFORE = 400;
const MEASURED = 800;
const AT_ONCE = 16;

declare global {
  /** With `--expose-gc`. */
  var gc: () => void;
}

async function heapBytes(): Promise<number> {
  // Objects released by a finalizer or a closing connection become garbage only
  // then.
  for (let n = 0; n < 3; n++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return Deno.memoryUsage().heapUsed;
}

async function growth(store: ImageStore): Promise<number> {
  store.prepare(true);
  using outbound = openOutbound();
  const fetcher = new ImageFetcher(outbound, store, systemClock, {
    imageLimit: 1_000_000,
    answerMs: 10_000,
    jobMark: newJobMark(),
    onFault: (error) => {
      throw error;
    },
  });
  // One signal for all, as in the worker.
  const { signal } = new AbortController();
  const url = `${host.url}/good/a.png`;
  const fetchAll = async (count: number) => {
    for (let n = 0; n < count; n += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, async () => {
        const lease = systemIds.uuid();
        const mine = { sellerId: "a", room: 1e9 };
        const task = { id: lease, lease, url, copy: null, ...mine };
        const { outcome: { kind } } = await fetcher.fetch(task, signal);
        if (kind !== "stored") throw new Error(`an image was ${kind}`);
      }));
      server.seen.length = 0;
    }
  };
  await fetchAll(BEFORE);
  const before = await heapBytes();
  await fetchAll(MEASURED);
  return Math.round((await heapBytes() - before) / MEASURED);
}

await using folder = await temporaryFolder();
await using host = new ImageHost();
await using server = new S3Server();
const storeOf = (settings = {}) => {
  const config = testConfig({ dataDir: folder.path, ...settings });
  return openImageStore(imageStoreSettings(config), systemClock);
};
console.log(JSON.stringify({
  folder: await growth(storeOf()),
  s3: await growth(storeOf(server.config())),
}));
