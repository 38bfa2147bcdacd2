/**
 * The fields of a product: one entry each, except the sale, which has its own
 * elements. A new field is an entry here, a column of `products` in
 * `database/schema.ts` with its migration (`migrations.ts`), and its other
 * names in spreadsheets (`web/import/columns/headers.ts`). The reader of
 * uploads, the statements, the schemas, the answers, the attribute update, the
 * documentation and the page's form follow from `SCALARS` and `LISTS`.
 */
import {
  type Form,
  GTIN_LENGTHS,
  integerReader,
  lineReader,
  PRICE_DIGITS,
  RATE_DIGITS,
  readCurrency,
  readDate,
  type Reader,
  readGtin,
  readPrice,
  readSku,
  readVatRate,
  SKU_MAX,
  textReader,
  type UnitForm,
  wordReader,
} from "../lib/values.ts";

/** The most products of a document. */
export const PRODUCTS_LIMIT = 250;

/** The most products of a document that only changes attributes. */
export const ATTRIBUTES_LIMIT = 10_000;

/** The least and the greatest weight of a product. */
export const WEIGHT_GRAMS = { min: 1, max: 1_000_000 };

const AVAILABILITIES = [
  "in_stock",
  "out_of_stock",
  "preorder",
  "backorder",
] as const;
export type Availability = typeof AVAILABILITIES[number];

const CONDITIONS = ["new", "refurbished", "used"] as const;
export type Condition = typeof CONDITIONS[number];

export const STATUSES = ["active", "paused"] as const;
export type Status = typeof STATUSES[number];

interface ValueRule<T extends string | number> {
  /** Reads trimmed text that is not empty (`description`: as sent). */
  read: Reader<T>;
  /** The form of the values that `read` accepts; `read` may be stricter. */
  form: Form;
}

/** The units that have their own columns. */
export const STORED_UNITS = ["currency"] as const;
export type StoredUnit = typeof STORED_UNITS[number];

/** The XML attribute with a value's unit; a value must have it. */
export interface UnitRule {
  name: string;
  read: Reader<string>;
  form: UnitForm;
  /** The unit that the message about a missing unit shows. */
  example: string;
  /** The description of the unit in the documentation. */
  about: string;
  /** The column of the unit; none if the unit is always the same. */
  column?: StoredUnit;
}

/** The XML attribute or query parameter with an expected value. */
export const EXPECTED = "expected";

/**
 * The XML attribute with a difference; the query parameter of the same name
 * says that the value is a difference.
 */
export const CHANGE = "change";

/**
 * Columns that are written together when one of them changed. Each combination
 * is a prepared statement, so there are only few groups.
 */
export type UpdateGroup = "sku" | "price" | "stock" | "master data" | "texts";

/** The rules of a field whose stored value is a `V`. */
export interface FieldRule<V extends string | number | null>
  extends ValueRule<string | number> {
  /** The value of the field in a new product, and after it is cleared. */
  initial: V;
  /** Whether an empty value is allowed; it sets `initial`. */
  clears: boolean;
  /** Whether a new product must have the field. */
  required: boolean;
  /** Whether `PUT …/attribute/:attribute/:value` may change it. */
  attribute: boolean;
  group: UpdateGroup;
  /** The text is stored as sent, not trimmed. */
  verbatim?: true;
  unit?: UnitRule;
  /**
   * A document may give the expected value, in the XML attribute `EXPECTED`.
   */
  expectable?: true;
  /**
   * A document may change the value by a difference, in the XML attribute
   * `CHANGE`.
   */
  difference?: ValueRule<number>;
  /** The value is the name of a contact of the seller; see `contact.ts`. */
  contact?: true;
  label: string;
  /** Names in other systems: lower case, without "_" and "-". */
  synonyms?: readonly string[];
}

interface Place {
  synonyms?: readonly string[];
  group: UpdateGroup;
  label: string;
  /** True by default. */
  attribute?: boolean;
  verbatim?: true;
  unit?: UnitRule;
  expectable?: true;
  difference?: ValueRule<number>;
  contact?: true;
}

/**
 * A field that every product has; `initial` is the value until the seller sends
 * one.
 */
function mandatory<T extends string | number>(
  rule: ValueRule<T>,
  initial: T,
  { required = true, ...place }: Place & { required?: boolean },
): FieldRule<T> {
  const { attribute = true } = place;
  return { ...rule, ...place, initial, clears: false, required, attribute };
}

function optional<T extends string | number>(
  rule: ValueRule<T>,
  place: Place,
): FieldRule<T | null> {
  const { attribute = true } = place;
  const common = { ...rule, ...place, attribute } as const;
  return {
    ...common,
    initial: null,
    clears: true,
    required: false,
  } as FieldRule<T | null>;
}

/** A field whose default is `initial`. */
function defaulted<T extends string>(
  rule: ValueRule<T>,
  initial: T,
  place: Place,
): FieldRule<T> {
  return {
    ...mandatory(rule, initial, { ...place, required: false }),
    clears: true,
  };
}

function line(max: number): ValueRule<string> {
  return { read: lineReader(max), form: { kind: "line", max } };
}

function text(max: number): ValueRule<string> {
  return { read: textReader(max), form: { kind: "text", max } };
}

function word<W extends string>(words: readonly W[]): ValueRule<W> {
  return { read: wordReader(words), form: { kind: "word", words } };
}

function integer(max: number, min = 0): ValueRule<number> {
  return { read: integerReader(max, min), form: { kind: "integer", max, min } };
}

/** A whole number with or without a sign, up to `max` in both directions. */
function difference(max: number): ValueRule<number> {
  const { read, form } = integer(max, -max);
  const isPlus = (text: string) => text.startsWith("+") && text[1] !== "-";
  return { read: (text) => read(isPlus(text) ? text.slice(1) : text), form };
}

const QUANTITY_MAX = 10_000_000;

const SKU: ValueRule<string> = { ...line(SKU_MAX), read: readSku };
const PRICE: ValueRule<string> = {
  read: readPrice,
  form: { kind: "decimal", ...PRICE_DIGITS },
};
const VAT_RATE: ValueRule<string> = {
  read: readVatRate,
  form: { kind: "decimal", ...RATE_DIGITS },
};
const DATE: ValueRule<string> = { read: readDate, form: { kind: "date" } };
const GTIN: ValueRule<string> = {
  read: readGtin,
  form: { kind: "digits", lengths: GTIN_LENGTHS },
};

const CURRENCY: UnitRule = {
  name: "currency",
  read: readCurrency,
  form: { kind: "capitals", length: 3 },
  example: "SEK",
  about: "the price's currency code of ISO 4217",
  column: "currency",
};

const GRAMS: UnitRule = {
  name: "unit",
  ...word(["g"]),
  example: "g",
  about: "the unit, grams",
};

/** The scalar fields in the order in which documents list them. */
export const SCALARS = {
  sku: mandatory(SKU, "", {
    group: "sku",
    label: "SKU",
    synonyms: ["articlenumber", "itemnumber", "productnumber", "code"],
  }),
  title: mandatory(line(150), "", {
    group: "master data",
    label: "Title",
    synonyms: ["name", "productname", "heading"],
  }),
  description: optional(text(5_000), {
    group: "texts",
    label: "Description",
    attribute: false,
    verbatim: true,
    synonyms: ["body", "text", "longdescription"],
  }),
  price: mandatory(PRICE, "", {
    group: "price",
    label: "Price",
    unit: CURRENCY,
    expectable: true,
    synonyms: ["amount", "unitprice", "cost"],
  }),
  compare_at_price: optional(PRICE, {
    group: "price",
    label: "Compare-at price",
    synonyms: ["oldprice", "regularprice", "listprice", "msrp", "rrp"],
  }),
  vat_rate: optional(VAT_RATE, {
    group: "price",
    label: "VAT rate",
    synonyms: ["vat", "tax", "taxrate"],
  }),
  quantity: optional(integer(QUANTITY_MAX), {
    group: "stock",
    label: "Quantity",
    expectable: true,
    difference: difference(QUANTITY_MAX),
    synonyms: ["stock", "qty", "inventory", "stocklevel", "stockquantity"],
  }),
  availability: mandatory(word(AVAILABILITIES), "in_stock", {
    group: "stock",
    label: "Availability",
    synonyms: ["stockstatus", "available"],
    // The default is the availability that follows from the quantity.
    required: false,
  }),
  available_at: optional(DATE, { group: "stock", label: "Available at" }),
  gtin: optional(GTIN, {
    group: "master data",
    label: "GTIN",
    synonyms: ["ean", "upc", "isbn", "barcode"],
  }),
  brand: optional(line(100), {
    group: "master data",
    label: "Brand",
    synonyms: ["vendor", "make"],
  }),
  mpn: optional(line(70), {
    group: "master data",
    label: "MPN",
    synonyms: ["partnumber", "modelnumber", "model"],
  }),
  weight: optional(integer(WEIGHT_GRAMS.max, WEIGHT_GRAMS.min), {
    group: "master data",
    label: "Weight",
    unit: GRAMS,
  }),
  handling_days: optional(integer(365), {
    group: "master data",
    label: "Handling days",
    synonyms: ["handlingtime", "leadtime", "dispatchdays"],
  }),
  condition: defaulted(word(CONDITIONS), "new", {
    group: "master data",
    label: "Condition",
  }),
  status: defaulted(word(STATUSES), "active", {
    group: "master data",
    label: "Status",
  }),
  parent_sku: optional(SKU, {
    group: "master data",
    label: "Parent SKU",
    attribute: false,
    synonyms: ["parent", "parentid", "itemgroupid", "groupid"],
  }),
  manufacturer: optional(SKU, {
    group: "master data",
    // Not "Manufacturer": most spreadsheets have the brand under this name.
    label: "Manufacturer contact",
    contact: true,
  }),
  responsible_person: optional(SKU, {
    group: "master data",
    label: "Responsible person",
    contact: true,
    synonyms: ["euresponsibleperson", "authorisedrepresentative"],
  }),
  safety_text: optional(text(5_000), {
    group: "texts",
    label: "Safety text",
    attribute: false,
    verbatim: true,
    synonyms: ["safetyinformation", "safetywarnings", "warning"],
  }),
};

/** The fields with one text in XML and in an attribute update. */
export type ScalarField = keyof typeof SCALARS;

/** `SCALARS`, typed for iteration. */
export const SCALAR_RULES: Readonly<
  Record<ScalarField, FieldRule<string | number | null>>
> = SCALARS as never;

export const SCALAR_NAMES = Object.keys(SCALARS) as ScalarField[];

/** The fields that name a contact. */
export const CONTACT_FIELDS = ["manufacturer", "responsible_person"] as const;

/** Attribute names of the attribute update. */
export const ATTRIBUTE_NAMES = SCALAR_NAMES
  .filter((field) => SCALAR_RULES[field].attribute);

/**
 * A lower price between two times; see `sale.ts`. No other field has elements
 * like a sale.
 */
export interface Sale {
  /** In the currency of the product's price. */
  price: string;
  /** Unix milliseconds. */
  from: number;
  until: number;
}

/** The name of the field with the sale. */
export const SALE = "sale";

/** The elements of a sale. */
export const SALE_ELEMENTS = ["price", "from", "until"] as const;
export type SaleElement = typeof SALE_ELEMENTS[number];

/** The longest time between `from` and `until`. */
export const SALE_DAYS = 180;

export const SALE_STATES = ["planned", "on", "over"] as const;
export type SaleState = typeof SALE_STATES[number];

export interface ProductAttribute {
  name: string;
  value: string;
}

export interface ProductImage {
  url: string;
  alt: string | null;
}

/** The content of an entry of each list. */
interface ListItems {
  categories: string;
  attributes: ProductAttribute;
  /** In the seller's order; the first is the main one. */
  images: ProductImage;
}

export type ListField = keyof ListItems;

export interface ListRule {
  /** The element of an entry. */
  item: string;
  max: number;
  /** See `FieldRule`. */
  synonyms: readonly string[];
}

export const LISTS: Readonly<Record<ListField, ListRule>> = {
  categories: {
    item: "category",
    max: 5,
    synonyms: ["category", "producttype", "tags"],
  },
  attributes: {
    item: "attribute",
    max: 100,
    synonyms: ["attribute", "properties", "specifications", "options"],
  },
  images: {
    item: "image",
    max: 10,
    synonyms: [
      "image",
      "imageurl",
      "imagelink",
      "pictures",
      "picture",
      "photos",
    ],
  },
};

export const LIST_NAMES = Object.keys(LISTS) as ListField[];

const BY_SYNONYM: ReadonlyMap<string, string> = new Map(
  [...Object.entries(SCALAR_RULES), ...Object.entries(LISTS)]
    .flatMap(([field, { synonyms = [] }]) =>
      synonyms.map((synonym) => [synonym, field] as const)
    ),
);

/** The field for which other systems use this name; null if there is none. */
export function fieldForSynonym(name: string): string | null {
  return BY_SYNONYM.get(name.toLowerCase().replace(/[-_]/g, "")) ?? null;
}

/**
 * XML attributes in answers that only the service sets, by element. An upload
 * may contain them, and they are ignored, so that a product can be uploaded as
 * it was read.
 */
export const READ_ONLY_ATTRIBUTES: Readonly<
  Record<string, readonly string[]>
> = {
  product: ["created_at", "updated_at"],
  [SALE]: ["state"],
  image: ["status", "href", "type", "width", "height", "code", "message"],
};

/**
 * JSON names, other than `TEXT_NAME`, of the texts of elements with XML
 * attributes.
 */
export const TEXT_NAMES: Readonly<Record<string, string>> = {
  price: "amount",
  image: "url",
};

/**
 * Elements of a product in answers that only the service sets. An upload may
 * contain them, and they are ignored.
 */
export const READ_ONLY_ELEMENTS: readonly string[] = [
  "current_price",
  "lowest_price",
  "review",
];

/** Limits of the texts in lists, in characters. */
export const TEXT_LIMITS = {
  category: 255,
  attributeName: 50,
  attributeValue: 255,
  alt: 250,
};

type ValueOf<R> = R extends FieldRule<infer V> ? V : never;

/**
 * The values that a seller sets. Decimals are canonical text; null if there is
 * no value (a `quantity`: not tracked).
 */
export type ProductFields =
  & { [F in ScalarField]: ValueOf<typeof SCALARS[F]> }
  & { [U in StoredUnit]: string }
  & { [SALE]: Sale | null }
  & { [L in ListField]: ListItems[L][] };

/** Whether the field has entries. */
export function isList(field: string): field is ListField {
  return Object.hasOwn(LISTS, field);
}
