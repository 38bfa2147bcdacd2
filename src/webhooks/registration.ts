/** Registers the URL of a seller's webhook for a trigger. */
import {
  type Detail,
  fieldDetail,
  type Problem,
  recordInvalid,
} from "../lib/errors.ts";
import { readTrigger } from "./event.ts";
import { requireActive } from "../sellers/access.ts";
import type { Caller } from "../sellers/seller.ts";
import { parseSellerUrl } from "../lib/url.ts";
import { quote, type Read, trimSpace } from "../lib/values.ts";
import type { Trigger } from "./trigger.ts";
import { type Outbound, OutboundError } from "../net/outbound.ts";
import type { Services } from "../services.ts";
import { putWebhook } from "./webhook_rows.ts";
import { parseTree, type XmlElement } from "../xml/decode.ts";
import { readFields } from "../xml/small_document.ts";

/**
 * Registers the webhook of an XML document; it replaces one for the same
 * trigger. Throws a `ServiceError`: 422 for an invalid trigger or URL, or a
 * host that cannot be reached.
 */
export async function registerWebhook(
  { db, deps, signals, outbound }: Services,
  seller: Caller,
  document: Uint8Array,
): Promise<void> {
  const { trigger, url } = await readWebhook(
    parseTree(document),
    (url) => outbound.check(url, seller.id),
  );
  await db.write(async (tx) => {
    await requireActive(tx, seller);
    await putWebhook(tx, deps, seller.no, trigger, url);
    tx.onCommit(() => signals.deliveries.announce());
  });
}

async function readWebhook(
  root: XmlElement,
  check: Outbound["check"],
): Promise<{ trigger: Trigger; url: string }> {
  const { fields, details } = readFields(root, {
    root: "webhook",
    texts: ["trigger", "url"],
  });
  const problems: Detail[] = [...details];
  const value = <T>(field: string, read: Read<T>): T | undefined => {
    if ("value" in read) return read.value;
    const line = fields.get(field)?.line;
    problems.push(fieldDetail({ field, ...read.problem }, { line }));
  };
  const text = (field: string) => readRequired(fields.get(field));
  const trigger = value("trigger", chained(text("trigger"), readTrigger));
  const urlText = value("url", chained(text("url"), readUrl));
  const url = urlText === undefined
    ? undefined
    : value("url", await reachable(urlText, check));
  if (problems.length > 0 || trigger === undefined || url === undefined) {
    problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
    throw recordInvalid(problems);
  }
  return { trigger, url };
}

function chained<T>(
  first: Read<string>,
  read: (text: string) => Read<T>,
): Read<T> {
  return "value" in first ? read(first.value) : first;
}

function readRequired(element: XmlElement | undefined): Read<string> {
  if (element === undefined) return required("is missing.");
  const text = trimSpace(element.text);
  return text === "" ? required("is empty.") : { value: text };
}

function required(message: string): { problem: Problem } {
  return { problem: { code: "required", message } };
}

function readUrl(text: string): Read<string> {
  const parsed = parseSellerUrl(text);
  return "url" in parsed ? { value: text } : {
    problem: {
      code: parsed.code,
      message: `cannot be used. ${parsed.problem}`,
    },
  };
}

async function reachable(
  url: string,
  check: Outbound["check"],
): Promise<Read<string>> {
  try {
    await check(url);
    return { value: url };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    if (error.isOurs) throw error;
    const code = error.kind === "blocked" ? "url_blocked" : "unresolved";
    return {
      problem: { code, message: `is ${quote(url)}. ${error.message}` },
    };
  }
}
