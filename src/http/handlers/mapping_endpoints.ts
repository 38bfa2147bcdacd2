/** A seller's stored mappings of spreadsheet columns. */
import type { MappingNode } from "../../contracts/answers.ts";
import { MAPPING_EXAMPLE } from "../../contracts/examples.ts";
import { notFound } from "../../lib/errors.ts";
import {
  deleteMapping as removeMapping,
  findMapping,
  listMappings as mappingsOf,
  MAPPING_BYTES,
  MAPPINGS_LIMIT,
  type NamedMapping,
  putMapping as storeMapping,
  readMapping,
} from "../../sellers/mappings.ts";
import { isoTime } from "../../xml/encode.ts";
import { endpoint } from "../server/route.ts";

export const putMapping = endpoint({
  operation: "putMapping",
  title: "Store a mapping",
  about:
    "Stores the fields of a table's columns under a name that you choose. " +
    "Replaces a mapping with the same name. You can store " +
    `${MAPPINGS_LIMIT} mappings of up to 32 KiB each.`,
  sends: { root: "mapping", example: MAPPING_EXAMPLE },
  answers: ["success"],
}, async ({ services, seller, params, document }) => {
  const mapping = readMapping(await document(MAPPING_BYTES), params.name);
  await storeMapping(services, seller, params.name, mapping);
  return { xml: { success: true } };
});

/** How many mappings one step reads; each has up to 32 KiB. */
const MAPPINGS_PER_STEP = 2;

export const listMappings = endpoint({
  operation: "listMappings",
  title: "List mappings",
  about: "Your mappings, in the order of their names.",
  answers: ["mappings"],
}, async ({ services, seller, form, heavyRead }) => {
  const list = form.list<MappingNode>("mapping", Infinity);
  let after: string | null = null;
  /** Reads a few mappings; returns whether there may be more. */
  const step = async (): Promise<boolean> => {
    const found: NamedMapping[] = await services.db.of(seller.no).read(
      (sql) => mappingsOf(sql, seller.no, { after, limit: MAPPINGS_PER_STEP }),
    );
    for (const mapping of found) list.add(mappingXml(mapping));
    after = found.at(-1)?.name ?? null;
    return found.length === MAPPINGS_PER_STEP;
  };
  await heavyRead(async (takeStep) => {
    while (await takeStep(step, true)) continue;
  });
  return { xml: { mappings: { mapping: list } } };
});

export const getMapping = endpoint({
  operation: "getMapping",
  title: "Read a mapping",
  about: "The mapping as it was sent.",
  answers: ["mapping"],
}, async ({ services, seller, params }) => {
  const mapping = await services.db.of(seller.no).read(
    (sql) => findMapping(sql, seller.no, params.name),
  );
  if (mapping === null) throw notFound("mapping");
  return { xml: { mapping: mappingXml(mapping) } };
});

export const deleteMapping = endpoint({
  operation: "deleteMapping",
  title: "Delete a mapping",
  about: "Deletes the mapping. The page then proposes fields for the columns " +
    "itself.",
  answers: ["success"],
}, async ({ services, seller, params }) => {
  await removeMapping(services, seller, params.name);
  return { xml: { success: true } };
});

function mappingXml(
  { name, updatedAt, columns, values }: NamedMapping,
): MappingNode {
  return {
    name,
    updated_at: isoTime(updatedAt),
    columns: {
      column: columns.map(({ name, field, unit }) => ({
        "@field": field,
        "@unit": unit,
        "#text": name,
      })),
    },
    values: {
      value: values.map(({ value, field }) => ({
        "@field": field,
        "#text": value,
      })),
    },
  };
}
