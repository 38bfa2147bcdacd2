/**
 * The real image worker, which develops a fault when it inspects a poisoned
 * image, when it gets a URL that contains a certain name, or while a file with
 * a certain name exists in the data folder. Only tests start it.
 */
import { parentPort } from "node:worker_threads";
import { ImageWorker } from "../../../src/images/worker/image_worker.ts";
import type {
  FromImageWorker,
  ToImageWorker,
} from "../../../src/images/worker/messages.ts";
import { exists } from "../../support/files.ts";
import { type Poison, POISONS } from "./poison.ts";

const BUSY_MS = 300;

/** The fault when it inspects a poisoned image. */
const POISONED: Record<Poison, () => void> = {
  throw: () => {
    throw new Error("thrown on purpose");
  },
  exit: () => Deno.exit(7),
  // A busy loop at first; then it sleeps, which takes no processor time.
  hang: () => {
    const end = performance.now() + BUSY_MS;
    const isFirst = !exists(hangFlag);
    Deno.writeTextFileSync(hangFlag, "h", { append: true });
    if (isFirst) { while (performance.now() < end); }
    while (exists(stuckFlag)) pause(10);
  },
  memory: () => {
    const hoard: unknown[] = [];
    for (;;) hoard.push(new Array(1_000).fill(Math.random()));
  },
};

const getUint32 = DataView.prototype.getUint32;
DataView.prototype.getUint32 = function (at: number, little?: boolean): number {
  const value = getUint32.call(this, at, little);
  for (const [poison, width] of Object.entries(POISONS)) {
    if (value === width) POISONED[poison as Poison]();
  }
  return value;
};

/** The fault, once, when it gets a URL that contains such a name. */
const FAULTS: Record<string, () => void> = {
  "fault-throw": () => {
    throw new Error("thrown on purpose");
  },
  "fault-reject": () => {
    Promise.reject(new Error("rejected on purpose"));
  },
  "fault-exit": () => Deno.exit(7),
  "fault-memory": POISONED.memory,
};

/** Faults independent of its messages, while a file with this name exists. */
const AILMENTS: Record<string, (isThere: () => boolean) => void> = {
  "worker-dead": () => Deno.exit(7),
  "worker-hung": (isThere) => {
    while (isThere()) pause(10);
  },
  "worker-out-of-memory": POISONED.memory,
};

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

let dataDir = "";
// A worker that hangs does so while a file with this name exists.
let stuckFlag = "";
// Has a letter for each worker that has hung.
let hangFlag = "";
// Exists once a worker has had a fault, or lost something, at a URL.
let faultFlag = "";
// The disk is full while a file with this name exists beside the images.
let fullFlag = "";
// The disk does not answer while a file with this name exists.
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

// Never reports the outcome of the first URL that contains "fault-lost".
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

/** Called before the worker receives the message. */
function fallIll(message: ToImageWorker): void {
  if (message.type === "start") {
    dataDir = `${message.settings.store.folder}/..`;
    stuckFlag = `${dataDir}/stuck`;
    faultFlag = `${dataDir}/has-failed`;
    hangFlag = `${dataDir}/has-hung`;
    stallFlag = `${dataDir}/disk-stalls`;
    fullFlag = `${dataDir}/disk-full`;
  }
  for (const [name, ail] of Object.entries(AILMENTS)) {
    const isThere = () => exists(`${dataDir}/${name}`);
    if (isThere()) ail(isThere);
  }
}

function isFirst(): boolean {
  if (exists(faultFlag)) return false;
  Deno.writeTextFileSync(faultFlag, "");
  return true;
}

/** Called after the worker has received the message. */
function failAt(message: ToImageWorker): void {
  if (message.type !== "fetch") return;
  for (const { id, url } of message.tasks) {
    if (url.includes("fault-lost") && isFirst()) lost.add(id);
    const fault = Object.keys(FAULTS).find((name) => url.includes(name));
    if (fault !== undefined && isFirst()) FAULTS[fault]();
  }
}

const { receive } = ImageWorker.prototype;
ImageWorker.prototype.receive = function (message: ToImageWorker): void {
  fallIll(message);
  receive.call(this, message);
  failAt(message);
};
await import("../../../src/images/worker/worker.ts");
