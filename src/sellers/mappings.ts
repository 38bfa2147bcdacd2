/**
 * Mappings: a seller's choices for the columns of a table on the page, stored
 * by name. The page knows their meaning; the service checks only their form.
 */
import { LIMIT, type Sql, type Tx } from "../database/db.ts";
import { where } from "../database/where.ts";
import { type Detail, notFound, recordInvalid } from "../lib/errors.ts";
import type { Services } from "../services.ts";
import type { XmlElement } from "../xml/decode.ts";
import {
  type Attribute,
  elements,
  inAnyOrder,
  listedIn,
  many,
  NAME_OF_PATH,
  one,
  readOnly,
  type Shape,
} from "../xml/shapes.ts";
import { checkName, readFields, textBeside } from "../xml/small_document.ts";
import { lockForCounting, requireActive } from "./access.ts";
import { isName, NAME_RULE } from "./names.ts";
import type { Caller, Seller } from "./seller.ts";

/** The maximum number of mappings of a seller. */
export const MAPPINGS_LIMIT = 50;
/** The maximum size of the document of a mapping. */
export const MAPPING_BYTES = 32 * 1_024;

// Any text is valid: only the page knows the names of fields and units.
const FIELD_ATTRIBUTE = {
  field: {
    form: { kind: "string" },
    required: true,
    about: "the field, as in an upload",
  },
} satisfies Record<string, Attribute>;
const MAPPED_COLUMN: Shape<
  { "@field": string; "@unit"?: string; "#text": string }
> = {
  type: "mapped_column",
  textName: "name",
  content: { kind: "string" },
  attributes: {
    field: {
      ...FIELD_ATTRIBUTE.field,
      about: "the field, as in an upload; empty: the column is ignored",
    },
    unit: {
      form: { kind: "string" },
      about: "the unit of numbers that have no unit in the table",
    },
  },
};
const MAPPED_VALUE: Shape<{ "@field": string; "#text": string }> = {
  type: "mapped_value",
  content: { kind: "string" },
  attributes: FIELD_ATTRIBUTE,
};

/** The elements of a mapping. */
export const MAPPING_ELEMENTS = [
  one(
    "columns",
    elements(many("column", MAPPED_COLUMN)),
    "the columns, each with its name in the table",
  ),
  one(
    "values",
    elements(many("value", MAPPED_VALUE)),
    "the values that all rows have",
  ),
] as const;

export const MAPPING_DOCUMENT = {
  name: "mapping",
  shape: inAnyOrder(NAME_OF_PATH, readOnly("updated_at"), ...MAPPING_ELEMENTS),
};

/** The field for a column of a table; if empty, the column is ignored. */
export interface MappedColumn {
  /** The name of the column. */
  name: string;
  field: string;
  unit?: string;
}

/** A value that all rows of a table have in one field. */
export interface MappedValue {
  value: string;
  field: string;
}

export interface Mapping {
  columns: MappedColumn[];
  values: MappedValue[];
}

export interface NamedMapping extends Mapping {
  name: string;
  updatedAt: number;
}

const [COLUMNS, VALUES] = MAPPING_ELEMENTS;

/**
 * Reads `<mapping>` from a request to store it as `name`. Throws 422 with every
 * problem.
 */
export function readMapping(root: XmlElement, name: string): Mapping {
  const { fields, details } = readFields(root, MAPPING_DOCUMENT);
  checkName(fields.get("name"), name, details);
  const entries = ({ name: list, shape }: typeof MAPPING_ELEMENTS[number]) => {
    const { name: item, shape: { attributes } } = listedIn(shape)!.items;
    const listElement = fields.get(list as keyof Mapping);
    if (listElement === undefined) {
      details.push({
        line: root.line,
        field: list,
        code: "required",
        message: `<${list}> is missing; send it, even without any <${item}>.`,
      });
    } else {
      for (const detail of textBeside(listElement)) details.push(detail);
    }
    return (listElement?.children ?? []).flatMap((element, n) => {
      const path = `${list}/${item}[${n + 1}]`;
      const problem = mappingProblem(
        element,
        item,
        path,
        Object.keys(attributes!),
      );
      if (problem !== null) details.push(problem);
      return problem === null ? [element] : [];
    });
  };
  const columns = entries(COLUMNS)
    .map(({ text, attributes: { field, unit } }) => ({
      name: text.trim(),
      field,
      ...(unit === undefined ? {} : { unit }),
    }));
  const values = entries(VALUES)
    .map(({ text, attributes }) => ({
      value: text.trim(),
      field: attributes.field,
    }));
  if (details.length > 0) throw recordInvalid(details);
  return { columns, values };
}

function mappingProblem(
  { name, line, attributes, children }: XmlElement,
  item: string,
  path: string,
  allowedAttributes: readonly string[],
): Detail | null {
  if (name !== item) {
    const [list] = path.split("/");
    return {
      line,
      field: `${list}/${name}`,
      code: "unknown_element",
      message: `<${name}> is not known in <${list}>: write <${item}>.`,
    };
  }
  const unknown = Object.keys(attributes)
    .find((attribute) => !allowedAttributes.includes(attribute));
  if (unknown !== undefined) {
    return {
      line,
      field: `${path}/@${unknown}`,
      code: "unknown_attribute",
      message: `${unknown} is not known; <${item}> has ${
        allowedAttributes.join(", ")
      }.`,
    };
  }
  if (attributes.field === undefined) {
    return {
      line,
      field: `${path}/@field`,
      code: "required",
      message: `<${item}> needs an attribute named field.`,
    };
  }
  const [child] = children;
  return child === undefined ? null : {
    line: child.line,
    field: `${path}/${child.name}`,
    code: "unknown_element",
    message: `<${item}> has only text, not <${child.name}>.`,
  };
}

/**
 * Stores a mapping, and replaces an earlier mapping of the same name. Throws 422
 * for an invalid name, and for one mapping too many.
 */
export async function putMapping(
  { db }: Pick<Services, "db">,
  seller: Caller,
  name: string,
  mapping: Mapping,
): Promise<void> {
  await db.of(seller.no).write(async (tx) => {
    await lockForCounting(tx, seller.no);
    await requireActive(tx, seller);
    await writeMapping(tx, { sellerNo: seller.no, name, mapping });
  });
}

async function writeMapping(
  tx: Tx,
  { sellerNo, name, mapping }: {
    sellerNo: number;
    name: string;
    mapping: Mapping;
  },
): Promise<void> {
  if (!isName(name)) {
    throw recordInvalid([{
      field: "name",
      code: "not_allowed",
      message: `name must be ${NAME_RULE}.`,
    }]);
  }
  await tx.run(
    `INSERT INTO mappings (seller_no, name, updated_at, content)
     VALUES (?, ?, ?, ?)
     ON CONFLICT (seller_no, name) DO UPDATE SET
       updated_at = excluded.updated_at, content = excluded.content
     WHERE mappings.content <> excluded.content`,
    [sellerNo, name, tx.now(), JSON.stringify(mapping)],
    "any",
  );
  const row = await tx.get<{ n: number }>(
    "SELECT COUNT(*) AS n FROM mappings WHERE seller_no = ?",
    [sellerNo],
  );
  if (row!.n <= MAPPINGS_LIMIT) return;
  throw recordInvalid([{
    field: "name",
    code: "quota_exceeded",
    message: `You have ${MAPPINGS_LIMIT} mappings already: delete one.`,
  }]);
}

interface MappingRow {
  name: string;
  updatedAt: number;
  content: string;
}

const SELECT_MAPPINGS =
  'SELECT name, updated_at AS "updatedAt", content FROM mappings';

function toMapping({ content, ...row }: MappingRow): NamedMapping {
  return { ...row, ...JSON.parse(content) as Mapping };
}

/** A seller's mappings whose names follow `after`, in the order of names. */
export async function listMappings(
  sql: Sql,
  sellerNo: number,
  { after, limit }: { after: string | null; limit: number },
): Promise<NamedMapping[]> {
  const condition = where({ "seller_no = ?": sellerNo, "name > ?": after });
  const rows = await sql.all<MappingRow>(
    `${SELECT_MAPPINGS} ${condition.where} ORDER BY name ${LIMIT}`,
    [...condition.params, limit],
  );
  return rows.map(toMapping);
}

/** The mapping of this name; null if there is none. */
export async function findMapping(
  sql: Sql,
  sellerNo: number,
  name: string,
): Promise<NamedMapping | null> {
  const row = await sql.get<MappingRow>(
    `${SELECT_MAPPINGS} WHERE seller_no = ? AND name = ?`,
    [sellerNo, name],
  );
  return row === undefined ? null : toMapping(row);
}

/** Deletes a mapping; throws 404 if there is none of this name. */
export async function deleteMapping(
  { db }: Pick<Services, "db">,
  { no }: Seller,
  name: string,
): Promise<void> {
  const deleted = await db.of(no).write((tx) =>
    tx.run(
      "DELETE FROM mappings WHERE seller_no = ? AND name = ?",
      [no, name],
      "any",
    )
  );
  if (deleted === 0) throw notFound("mapping");
}
