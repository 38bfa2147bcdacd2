/**
 * The real image worker, which falls ill when it is sent a URL with a certain
 * name in it. Only tests start it.
 */
import { parentPort } from "node:worker_threads";
import "../../../src/images/worker/worker.ts";
import type {
  FromImageWorker,
  ToImageWorker,
} from "../../../src/images/worker/messages.ts";
import { exists } from "../../support/files.ts";

const FAULTS: Record<string, () => void> = {
  "fault-throw": () => {
    throw new Error("thrown on purpose");
  },
  "fault-reject": () => {
    Promise.reject(new Error("rejected on purpose"));
  },
  "fault-exit": () => Deno.exit(7),
  // A busy loop the first time; the others cost no time of the processor.
  "fault-hang": () => {
    if (exists(hangFlag)) return void pause(3_000);
    Deno.writeTextFileSync(hangFlag, "");
    const end = performance.now() + 3_000;
    while (performance.now() < end);
  },
  "fault-memory": () => {
    const hoard: unknown[] = [];
    for (;;) hoard.push(new Array(1_000).fill(Math.random()));
  },
};

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

// Says that a worker has hung already.
let hangFlag = "";
// As on a full disk, while there is a file of this name beside the images.
let fullFlag = "";
// As when the disk does not answer, while there is one of this name.
let stallFlag = "";
const write = Deno.FsFile.prototype.writeSync;
Deno.FsFile.prototype.writeSync = function (bytes: Uint8Array): number {
  if (exists(fullFlag)) {
    throw new Error("No space left on device (os error 28)");
  }
  while (exists(stallFlag)) {
    Deno.writeTextFileSync(`${stallFlag}-begun`, "");
    pause(10);
  }
  return write.call(this, bytes);
};

// Never reports what becomes of a URL with "fault-lost" in it.
const lost = new Set<string>();
const post = parentPort?.postMessage.bind(parentPort);
if (parentPort !== null) {
  parentPort.postMessage = (message: FromImageWorker) =>
    post?.(
      message.type === "done"
        ? {
          ...message,
          results: message.results.filter(({ id }) => !lost.has(id)),
        }
        : message,
    );
}

parentPort?.on("message", (message: ToImageWorker) => {
  if (message.type === "start") {
    hangFlag = `${message.settings.store.folder}/../has-hung`;
    stallFlag = `${message.settings.store.folder}/../disk-stalls`;
    fullFlag = `${message.settings.store.folder}/../disk-full`;
  }
  if (message.type !== "fetch") return;
  for (const { id, url } of message.tasks) {
    if (url.includes("fault-lost")) lost.add(id);
    const fault = Object.keys(FAULTS).find((name) => url.includes(name));
    if (fault !== undefined) FAULTS[fault]();
  }
});
