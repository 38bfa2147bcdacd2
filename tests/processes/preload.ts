/**
 * Runs in the service before its program: writes the content of its memory each
 * second, and ends the image worker at SIGUSR2.
 */
import { Worker } from "node:worker_threads";

const PERIOD_MS = 1_000;
const file = `${Deno.env.get("SELLER_DATA_DIR")}/../memory.json`;

const timer = setInterval(() => {
  Deno.writeTextFileSync(file, JSON.stringify(Deno.memoryUsage()));
}, PERIOD_MS);
Deno.unrefTimer(timer);

let last: Worker | null = null;
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (this: Worker, message, options) {
  last = this; // the current one
  return post.call(this, message, options);
};
Deno.addSignalListener("SIGUSR2", () => last?.terminate());
