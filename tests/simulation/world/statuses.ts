/** Rules for the status of a transaction at any moment. */
import type { XmlElement } from "../../../src/xml/decode.ts";
import { parseTree } from "../../../src/xml/decode.ts";
import { child, textAt } from "../../support/app.ts";
import { asXml } from "../../support/forms.ts";
import { valueOf } from "../../support/read_out.ts";
import type { Random } from "../../support/random.ts";
import type { Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import type { Call } from "./caller.ts";
import { urlOf } from "./form.ts";

/** Counters add up, and determine the status. */
export function checkStatus(transaction: XmlElement): void {
  const n = (path: string) => Number(textAt(transaction, path));
  const rule = (holds: boolean, words: string) =>
    hold(holds, "true", words, transaction.source);
  const settled = n("images/stored") + n("images/reused") + n("images/failed");
  const pending = n("images/pending");
  const total = n("images/total");
  rule(settled + pending === total, "the counts of images add up");
  const progress = total === 0 ? 100 : Math.floor(settled * 100 / total);
  rule(n("progress") === progress, `the progress is ${progress}`);
  const status = pending > 0
    ? "processing"
    : n("images/failed") > 0
    ? "completed_with_errors"
    : "completed";
  rule(textAt(transaction, "status") === status, `the status is ${status}`);
  const isFinished = textAt(transaction, "finished_at") !== "";
  rule(
    isFinished === (pending === 0),
    "it is finished when nothing is pending",
  );
  const products = child(transaction, "products").children;
  const sum = products.filter(({ name }) => name !== "total")
    .reduce((sum, { text }) => sum + Number(text), 0);
  rule(sum === n("products/total"), "the counts of products add up");
  checkImages(transaction);
}

/** The counters match the images in the results. */
function checkImages(transaction: XmlElement): void {
  const results = transaction.children.find(({ name }) => name === "results");
  // Of a long list, only the beginning is shown.
  if (results === undefined || valueOf(results, "next") !== null) return;
  const shown = results.children.flatMap(({ children }) => children)
    .filter(({ name }) => name === "image")
    .map((image) => textAt(image, "status"));
  for (const status of ["pending", "failed"]) {
    const count = shown.filter((one) => one === status).length;
    hold(
      count === Number(textAt(transaction, `images/${status}`)),
      "atomic",
      `as many images are ${status} as the counter says`,
      transaction.source,
    );
  }
}

/** Reads a stream to its end; each event is a consistent status. */
export async function checkStream(
  { caller, world }: Scene,
  who: string,
  call: Call,
  random: Random,
): Promise<void> {
  const leavesAfterMs = 200 + random.below(40_000);
  const reply = await caller.once(
    who,
    { ...call, reader: { leavesAfterMs } },
    random,
  );
  if (typeof reply === "string" || reply.status !== 200) return;
  const events = reply.text.split("\n\n").filter((text) => text !== "");
  let isFinal = false;
  for (const event of events) {
    if (event.startsWith(":")) continue;
    hold(!isFinal, "contract", "final is the last event", reply.text);
    const [name, data] = event.split("\n");
    isFinal = name === "event: final";
    hold(
      isFinal || name === "event: progress",
      "contract",
      "an event is progress or final",
      reply.text,
    );
    const text = data.slice("data: ".length);
    const asked = { method: "GET", url: urlOf(call.path), status: 200 };
    const xml = text.startsWith("{") ? asXml(text, asked) : text;
    const tree = parseTree(new TextEncoder().encode(xml));
    const transaction = tree.name === "service"
      ? child(tree, "transaction")
      : tree;
    checkStatus(transaction);
    const isFinished = textAt(transaction, "status") !== "processing";
    hold(isFinished === isFinal, "contract", "final is final", reply.text);
  }
  hold(events.length > 0 || world.jumps, "contract", "a stream begins at once");
}
