/** The meaning of triggers on this marketplace. */
import { MEANING_EXAMPLE } from "../../contracts/examples.ts";
import { TRIGGER_ENTRY } from "../../contracts/answers.ts";
import { jsonWriter } from "../../json/encode.ts";
import { valueFromXml } from "../../json/instance.ts";
import { notFound } from "../../lib/errors.ts";
import { nearestName } from "../../lib/nearest_name.ts";
import { xmlOfData } from "../../webhooks/event.ts";
import { EVENT_LIMITS } from "../../webhooks/event_document.ts";
import { isTrigger, TRIGGERS } from "../../webhooks/trigger.ts";
import {
  listMeanings,
  MEANING_BYTES,
  putMeaning,
  readMeaning,
  type TriggerMeaning,
} from "../../webhooks/trigger_meanings.ts";
import { element, EncodedElement, type XmlNode } from "../../xml/encode.ts";
import { boundedList } from "../server/list.ts";
import { endpoint } from "../server/route.ts";

export const putTrigger = endpoint({
  operation: "putTrigger",
  title: "Describe a trigger",
  about:
    "Describes when you send the trigger, with an example of its data. An " +
    "empty text restores the service's own description. The list of " +
    "triggers and the OpenAPI description show both, and test events have " +
    "the example as data.",
  sends: { root: "trigger", example: MEANING_EXAMPLE },
  answers: ["success"],
}, async ({ services, who, params, body, parse }) => {
  const { trigger_name: trigger } = params;
  if (!isTrigger(trigger)) {
    throw notFound("trigger", nearestName(trigger, TRIGGERS));
  }
  const bytes = await body(MEANING_BYTES);
  const meaning = readMeaning(parse(bytes, EVENT_LIMITS), bytes, trigger);
  await putMeaning(services, { who, trigger, meaning });
  return { xml: { success: true } };
});

export const listTriggers = endpoint({
  operation: "listTriggers",
  title: "List triggers",
  about:
    "Each trigger with its meaning on this marketplace and an example of " +
    "its data.",
  answers: ["triggers"],
}, async ({ services, form }) => {
  const trigger = boundedList<XmlNode>(form, "trigger");
  const meanings = await services.db.read(listMeanings, { single: true });
  for (const meaning of meanings) {
    trigger.add(new EncodedElement(triggerEntry(form.name, meaning)));
  }
  return { xml: { triggers: { trigger } } };
});

const write = jsonWriter(TRIGGER_ENTRY);

/** A trigger in the list. The example is exactly as it was sent. */
function triggerEntry(
  form: "xml" | "json",
  { trigger, about, example }: TriggerMeaning,
): string {
  const head = { name: trigger, about };
  if (form === "json" && "json" in example) {
    const members = JSON.stringify(head).slice(0, -1);
    return `${members},"example":${example.json}}`;
  }
  const data = "xml" in example ? example.xml : xmlOfData(example.json);
  const xml = element("trigger", head)
    .replace("</trigger>", () => `<example>${data}</example></trigger>`);
  if (form === "xml") return xml;
  const bytes = new TextEncoder().encode(xml);
  return write(valueFromXml(bytes, TRIGGER_ENTRY, EVENT_LIMITS) as XmlNode);
}
