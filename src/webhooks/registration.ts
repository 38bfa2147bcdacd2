/** Registers the URL of a seller's webhook for a trigger. */
import { fieldDetail, type Problem, recordInvalid } from "../lib/errors.ts";
import { readTrigger } from "./event.ts";
import { requireActive } from "../sellers/access.ts";
import type { Caller } from "../sellers/seller.ts";
import { parseSellerUrl } from "../lib/url.ts";
import { quote, type ReadResult, wordReader } from "../lib/values.ts";
import { WEBHOOK_FORMATS, type WebhookRegistration } from "./webhook.ts";
import { type Outbound, OutboundError } from "../net/outbound.ts";
import type { Services } from "../services.ts";
import { putWebhook } from "./webhook_rows.ts";
import type { XmlElement } from "../xml/decode.ts";
import {
  inAnyOrder,
  maybe,
  one,
  readOnly,
  STRING,
  word,
} from "../xml/shapes.ts";
import { readField, readFields } from "../xml/small_document.ts";
import { TRIGGERS } from "./trigger.ts";

export const WEBHOOK = {
  name: "webhook",
  shape: inAnyOrder(
    one("trigger", word(TRIGGERS)),
    one("url", STRING),
    maybe(
      "format",
      word(WEBHOOK_FORMATS),
      "format of deliveries; xml by default",
    ),
    readOnly("disabled_at"),
    readOnly("failing_since"),
    readOnly("last_error"),
  ),
};

/**
 * Registers the webhook of a document, and replaces a webhook of the same
 * trigger. Throws a `ServiceError`: 422 for an invalid trigger, format or URL,
 * or for a host whose address is unknown or not allowed.
 */
export async function registerWebhook(
  { db, deps, signals, outbound }: Services,
  seller: Caller,
  document: XmlElement,
): Promise<void> {
  const webhook = await readWebhook(
    document,
    (url) => outbound.check(url, seller.id),
  );
  await db.of(seller.no).write(async (tx) => {
    await requireActive(tx, seller);
    await putWebhook(tx, deps, seller.no, webhook);
    tx.onCommit(() => signals.deliveries.announce());
  });
}

async function readWebhook(
  root: XmlElement,
  check: Outbound["check"],
): Promise<WebhookRegistration> {
  const { fields, details } = readFields(root, WEBHOOK);
  const sent = fields.get("url");
  const sentFormat = fields.get("format");
  const trigger = readField(
    "trigger",
    fields.get("trigger"),
    readTrigger,
    details,
    root.line,
  );
  const url = readField("url", sent, readUrl, details, root.line);
  const format = sentFormat === undefined
    ? "xml"
    : readField("format", sentFormat, readFormat, details);
  const problem = url === undefined ? null : await unreachable(url, check);
  if (problem !== null) {
    const { line } = sent!;
    details.push(fieldDetail({ field: "url", ...problem }, { line }));
  }
  if (details.length > 0) {
    throw recordInvalid(
      details.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    );
  }
  return { trigger: trigger!, url: url!, format: format! };
}

const readFormat = wordReader(WEBHOOK_FORMATS);

function readUrl(text: string): ReadResult<string> {
  const parsed = parseSellerUrl(text);
  return "url" in parsed ? { value: text } : {
    problem: {
      code: parsed.code,
      message: `cannot be used. ${parsed.problem}`,
    },
  };
}

/** Why the address of a URL's host cannot be used; null if it can. */
async function unreachable(
  url: string,
  check: Outbound["check"],
): Promise<Problem | null> {
  try {
    await check(url);
    return null;
  } catch (error) {
    if (!(error instanceof OutboundError) || error.isOurs) throw error;
    const code = error.kind === "blocked" ? "url_blocked" : "unresolved";
    return { code, message: `is ${quote(url)}. ${error.message}` };
  }
}
