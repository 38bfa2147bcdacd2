/**
 * The operator's description of the data of each trigger; the default
 * description applies to triggers without one.
 */
import { insertInto, type Sql } from "../database/db.ts";
import { type Detail, recordInvalid } from "../lib/errors.ts";
import { textReader, trimSpace } from "../lib/values.ts";
import { withAudit } from "../monitoring/audit.ts";
import type { Services } from "../services.ts";
import type { XmlElement } from "../xml/decode.ts";
import { ANY, inAnyOrder, maybe, NAME_OF_PATH, text } from "../xml/shapes.ts";
import { checkName, readField, readFields } from "../xml/small_document.ts";
import type { EventData } from "./event.ts";
import { dataIn } from "./event_document.ts";
import { type Trigger, TRIGGER_EXAMPLES, TRIGGERS } from "./trigger.ts";

const ABOUT_LENGTH = 2_000;
export const MEANING_BYTES = 64 * 1_024;

export const MEANING = {
  name: "trigger",
  shape: inAnyOrder(
    NAME_OF_PATH,
    maybe(
      "about",
      text({ kind: "text", max: ABOUT_LENGTH, empty: true }),
      "when the trigger is sent, and what its data mean",
    ),
    maybe("example", ANY, "an example of the event's data"),
  ),
};

/** The description as the operator sent it; null: the default one applies. */
export interface PutMeaning {
  about: string | null;
  example: EventData | null;
}

export interface TriggerMeaning {
  trigger: Trigger;
  about: string;
  example: EventData;
  /** Whether the operator has set it. */
  isOwn: boolean;
}

/** Reads the `<trigger>` of this name. Throws 422 with every problem. */
export function readMeaning(
  root: XmlElement,
  bytes: Uint8Array,
  trigger: Trigger,
): PutMeaning {
  const { fields, details } = readFields(root, MEANING);
  checkName(fields.get("name"), trigger, details);
  const about = readAbout(fields.get("about"), details);
  const sent = fields.get("example");
  if (details.length > 0) throw recordInvalid(details);
  const example = sent === undefined ? null : dataIn(bytes, sent);
  return { about, example: isEmpty(example) ? null : example };
}

function readAbout(
  sent: XmlElement | undefined,
  details: Detail[],
): string | null {
  if (trimSpace(sent?.text ?? "") === "") return null;
  return readField("about", sent, textReader(ABOUT_LENGTH), details) ?? null;
}

function isEmpty(data: EventData | null): boolean {
  if (data === null) return true;
  return "xml" in data
    ? trimSpace(data.xml) === ""
    : data.json === "null" || data.json === "{}" || data.json === '""';
}

const MEANINGS = insertInto(
  "trigger_meanings",
  ["trigger_name", "about", "form", "example"],
  `ON CONFLICT (trigger_name) DO UPDATE SET about = excluded.about,
     form = excluded.form, example = excluded.example`,
);

/** Sets the description of a trigger, and replaces the former one. */
export function putMeaning(
  services: Pick<Services, "db" | "deps">,
  { who, trigger, meaning: { about, example } }: {
    who: string;
    trigger: Trigger;
    meaning: PutMeaning;
  },
): Promise<void> {
  return withAudit(services, who, "trigger put", async (tx) => {
    const [form, written] = example === null
      ? [null, null]
      : Object.entries(example)[0];
    await tx.runMany(MEANINGS, [[trigger, about, form, written]], 1);
    return [undefined, { seller: null, detail: trigger }];
  });
}

interface Row {
  trigger: string;
  about: string | null;
  form: "xml" | "json" | null;
  example: string | null;
}

const ROWS = `SELECT trigger_name AS "trigger", about, form, example
  FROM trigger_meanings`;

/** The description of each trigger, in the order of the triggers. */
export async function listMeanings(sql: Sql): Promise<TriggerMeaning[]> {
  const rows = await sql.all<Row>(ROWS);
  const stored = new Map(rows.map((row) => [row.trigger, row]));
  return TRIGGERS.map((trigger) => meaningOf(trigger, stored.get(trigger)));
}

/** The default descriptions. */
export const DEFAULT_MEANINGS: readonly TriggerMeaning[] = TRIGGERS.map(
  (trigger) => meaningOf(trigger, undefined),
);

/** The description of one trigger. */
export async function findMeaning(
  sql: Sql,
  trigger: Trigger,
): Promise<TriggerMeaning> {
  const row = await sql.get<Row>(`${ROWS} WHERE trigger_name = ?`, [trigger]);
  return meaningOf(trigger, row);
}

function meaningOf(trigger: Trigger, row: Row | undefined): TriggerMeaning {
  const { when, data, ...more } = TRIGGER_EXAMPLES[trigger];
  const standard = "json" in more
    ? { json: JSON.stringify(more.json) }
    : { xml: data };
  const { about = null, form = null, example = null } = row ?? {};
  const own = form === "json"
    ? { json: example! }
    : form === "xml"
    ? { xml: example! }
    : null;
  return {
    trigger,
    about: about ?? when,
    example: own ?? standard,
    isOwn: about !== null || own !== null,
  };
}
