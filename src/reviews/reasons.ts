/** The operator's list of reasons, which the page offers to reviewers. */
import type { Services } from "../services.ts";
import { insertInto, type Sql, type Tx } from "../database/db.ts";
import { type Detail, recordInvalid } from "../lib/errors.ts";
import { lineReader, trimSpace } from "../lib/values.ts";
import { withAudit } from "../monitoring/audit.ts";
import type { XmlElement } from "../xml/decode.ts";
import { elements, many, one, STRING } from "../xml/shapes.ts";
import { readField, readFields, readRoot } from "../xml/small_document.ts";
import { REASON_ELEMENTS, REASON_LENGTHS } from "./decision.ts";
import type { Reason } from "../catalogue/review.ts";

/** The most reasons in the list. */
export const REASONS_LIMIT = 100;

const [, FIELD, MESSAGE] = REASON_ELEMENTS;
const REASON = {
  name: "reason",
  shape: elements(
    one("code", STRING, "a code that you choose"),
    FIELD,
    MESSAGE,
  ),
};

/** The entries of the list. */
export const LISTED_REASONS = many(REASON.name, REASON.shape, {
  max: REASONS_LIMIT,
});

export const REASONS = { name: "reasons", shape: elements(LISTED_REASONS) };

/** A reason of the list. */
export interface ListedReason extends Reason {
  code: string;
}

export function listReasons(sql: Sql): Promise<ListedReason[]> {
  return sql.all<ListedReason>(
    "SELECT code, field, message FROM review_reasons ORDER BY place",
  );
}

/** Replaces the whole list. */
export function putReasons(
  services: Pick<Services, "db" | "deps">,
  { who, reasons }: { who: string; reasons: readonly ListedReason[] },
): Promise<void> {
  return withAudit(services, who, "review reasons", async (tx) => {
    await writeReasons(tx, reasons);
    const codes = reasons.map(({ code }) => code).join(", ");
    return [undefined, { seller: null, detail: codes || "none" }];
  });
}

export async function writeReasons(
  tx: Tx,
  reasons: readonly ListedReason[],
): Promise<void> {
  await tx.run("DELETE FROM review_reasons", [], "any");
  await tx.runMany(
    insertInto("review_reasons", ["code", "place", "field", "message"]),
    reasons.map(({ code, field, message }, place) => [
      code,
      place,
      field,
      message,
    ]),
    1,
  );
}

/** Reads `<reasons>`. Throws 422 with every problem. */
export function readReasons(root: XmlElement): ListedReason[] {
  const details = readRoot(root, REASONS.name);
  if (root.children.length > REASONS_LIMIT) {
    details.push({
      line: root.line,
      field: "reasons",
      code: "too_many",
      message: `<reasons> has more entries than the ${REASONS_LIMIT} allowed.`,
    });
    throw recordInvalid(details);
  }
  const seen = new Set<string>();
  const reasons = root.children.map((element, n) => {
    const own: Detail[] = [];
    const reason = readReason(element, seen, own);
    const place = `reason[${n + 1}]`;
    for (const { field = "", ...detail } of own) {
      const inside = field.replace(/^reason(?:\/|$)/, "");
      const path = inside === "" ? place : `${place}/${inside}`;
      details.push({ ...detail, field: path });
    }
    return reason;
  });
  if (details.length > 0) throw recordInvalid(details);
  return reasons;
}

function readReason(
  element: XmlElement,
  seen: Set<string>,
  details: Detail[],
): ListedReason {
  const { fields, details: others } = readFields(element, REASON);
  for (const detail of others) details.push(detail);
  const read = (name: keyof Reason, required = false) => {
    const sent = fields.get(name);
    if (!required && trimSpace(sent?.text ?? "") === "") return null;
    const reader = lineReader(REASON_LENGTHS[name]);
    return readField(name, sent, reader, details, element.line) ?? null;
  };
  const code = read("code", true) ?? "";
  if (seen.has(code)) {
    details.push({
      line: element.line,
      field: "code",
      code: "repeated_value",
      message: `code repeats ${code}; each code may appear in the list once.`,
    });
  }
  seen.add(code);
  return { code, field: read("field"), message: read("message") };
}
