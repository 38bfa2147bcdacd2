/**
 * Contacts: the companies that answer for a product (Regulation (EU) 2023/988).
 * A seller stores each contact under a name, and products name it as their
 * manufacturer or responsible person.
 *
 * A product stores both the id and the name of its contact. With the id, the
 * product keeps the contact when the contact is deleted and another one gets
 * its name. With the name, an answer shows the product as its seller sent it
 * without reading the contact.
 */
import { isEmail } from "../lib/email.ts";
import {
  type Detail,
  type FieldProblem,
  recordInvalid,
} from "../lib/errors.ts";
import { MAX_URL_LENGTH, parseSellerUrl } from "../lib/url.ts";
import {
  COUNTRY_LETTERS,
  invalid,
  lineReader,
  ok,
  quote,
  readCountry,
  type Reader,
  trimSpace,
} from "../lib/values.ts";
import type { XmlElement } from "../xml/decode.ts";
import {
  inAnyOrder,
  maybe,
  NAME_OF_PATH,
  one,
  readOnly,
  text,
} from "../xml/shapes.ts";
import { checkName, readField, readFields } from "../xml/small_document.ts";
import { CONTACT_FIELDS, SCALAR_RULES, type ScalarField } from "./fields.ts";
import type { ProductPatch } from "./product.ts";

/** The most contacts of a seller. */
export const CONTACTS_LIMIT = 1_000;

/** The most characters of each text. */
const CONTACT_TEXT = 200;

const LINE = text({ kind: "line", max: CONTACT_TEXT });
const LINE_OR_EMPTY = text<string | undefined>({
  kind: "line",
  max: CONTACT_TEXT,
  empty: true,
});

/** The elements of a contact. */
export const CONTACT_ELEMENTS = [
  one("company", LINE, "the name or trade name"),
  one("street", LINE, "with the number"),
  maybe("postal_code", LINE_OR_EMPTY),
  one("city", LINE),
  one(
    "country",
    text({ kind: "capitals", length: COUNTRY_LETTERS }),
    "the code of ISO 3166-1, as in SE",
  ),
  maybe("email", LINE_OR_EMPTY, "needed without a URL"),
  maybe(
    "url",
    text<string | undefined>({
      kind: "line",
      max: MAX_URL_LENGTH,
      empty: true,
    }),
    "needed without an email address",
  ),
] as const;

export const CONTACT = {
  name: "contact",
  shape: inAnyOrder(NAME_OF_PATH, readOnly("updated_at"), ...CONTACT_ELEMENTS),
};

/** What a seller stores of a contact; optional texts are missing. */
export interface Contact {
  company: string;
  street: string;
  postal_code?: string;
  city: string;
  country: string;
  email?: string;
  url?: string;
}

type ContactElement = keyof Contact;

const readEmail: Reader<string> = (text) => {
  const line = readLine(text);
  if ("problem" in line || isEmail(text)) return line;
  return invalid(
    "not_allowed",
    `is ${quote(text)}, which is not an address such as ` +
      "safety@example.com, in ASCII and without a name.",
  );
};

const readUrl: Reader<string> = (text) => {
  const parsed = parseSellerUrl(text);
  return "url" in parsed
    ? ok(text)
    : invalid(parsed.code, `is not usable. ${parsed.problem}`);
};

const readLine = lineReader(CONTACT_TEXT);

const READERS: Readonly<Record<ContactElement, Reader<string>>> = {
  company: readLine,
  street: readLine,
  postal_code: readLine,
  city: readLine,
  country: readCountry,
  email: readEmail,
  url: readUrl,
};

/** The names of the elements, in their order. */
export const CONTACT_ELEMENT_NAMES = Object.keys(READERS) as ContactElement[];

const OPTIONAL: ReadonlySet<string> = new Set(
  CONTACT_ELEMENTS.filter(({ min }) => min === 0).map(({ name }) => name),
);

/**
 * Reads `<contact>`, which is stored under `name`. Throws 422 with everything
 * that is wrong.
 */
export function readContact(root: XmlElement, name: string): Contact {
  const { fields, details } = readFields(root, CONTACT);
  checkName(fields.get("name"), name, details);
  const contact: Partial<Record<ContactElement, string>> = {};
  for (const name of CONTACT_ELEMENT_NAMES) {
    const sent = fields.get(name);
    const isSent = sent !== undefined && trimSpace(sent.text) !== "";
    if (OPTIONAL.has(name) && !isSent) continue;
    const value = readField(name, sent, READERS[name], details, root.line);
    if (value !== undefined) contact[name] = value;
  }
  if (!hasEmailOrUrl(fields, contact)) details.push(emailOrUrlMissing(root));
  if (details.length > 0) throw recordInvalid(details);
  return contact as Contact;
}

/**
 * Whether an email or a URL is given, even an invalid one, which is already
 * reported.
 */
function hasEmailOrUrl(
  fields: ReadonlyMap<string, XmlElement>,
  { email, url }: Partial<Contact>,
): boolean {
  if (email !== undefined || url !== undefined) return true;
  return (["email", "url"] as const)
    .some((name) => trimSpace(fields.get(name)?.text ?? "") !== "");
}

function emailOrUrlMissing({ line }: XmlElement): Detail {
  return {
    line,
    field: "email",
    code: "required",
    message: "email is missing; a contact needs <email> or <url>.",
  };
}

/** The length of an id, with the space after it. */
const BEFORE_NAME = 37;

/** A contact by its id and name. */
export interface ContactKey {
  id: string;
  name: string;
}

/** The value of a product's field that names this contact. */
export function storedContact({ id, name }: ContactKey): string {
  return `${id} ${name}`;
}

/** The contact that the value of a field names. */
export function contactIn(stored: string): ContactKey {
  return {
    id: stored.slice(0, BEFORE_NAME - 1),
    name: stored.slice(BEFORE_NAME),
  };
}

/** The value of a field as a seller sends it. */
export function asSent<V extends string | number | null>(
  field: string,
  value: V,
): V {
  return typeof value === "string" && namesContact(field)
    ? contactIn(value).name as V
    : value;
}

/** Whether the field names a contact. */
export function namesContact(field: string): boolean {
  return SCALAR_RULES[field as ScalarField]?.contact === true;
}

/** The contacts that a product names, by field. */
export function contactsOf(
  product: Readonly<Record<typeof CONTACT_FIELDS[number], string | null>>,
): ContactKey[] {
  return CONTACT_FIELDS.flatMap((field) => {
    const stored = product[field];
    return stored === null ? [] : [contactIn(stored)];
  });
}

/** The contacts that the products of one plan may name. */
export interface KnownContacts {
  /** Null: the seller has no contact of this name. */
  find(name: string): ContactKey | null;
  /** All names; empty if no unknown name was looked up. */
  names: readonly string[];
}

/** Finds the names in `known` that are most like `written`. */
interface Suggest {
  of(written: string, known: Iterable<string>, count: number): string[];
}

/** The names of contacts in a patch that was not yet resolved. */
export function contactNamesIn(patch: ProductPatch): string[] {
  return CONTACT_FIELDS.flatMap((field) => patch[field] ?? []);
}

/**
 * Replaces the names of contacts in a patch by the stored values; unknown names
 * are left out. A product keeps a deleted contact if the seller sends the
 * contact's name again.
 */
export function resolveContacts(
  patch: ProductPatch,
  current: ProductPatch | null,
  contacts: KnownContacts | null,
  suggestions: Suggest,
): { patch: ProductPatch; unknown: FieldProblem[] } {
  const unknown: FieldProblem[] = [];
  if (contacts === null) return { patch, unknown };
  const resolved = { ...patch };
  for (const field of CONTACT_FIELDS) {
    const name = patch[field] ?? null;
    if (name === null) continue;
    const contact = contacts.find(name);
    const currentContact = current?.[field] ?? null;
    if (contact !== null) resolved[field] = storedContact(contact);
    else if (
      currentContact !== null && contactIn(currentContact).name === name
    ) {
      resolved[field] = currentContact;
    } else {
      delete resolved[field];
      // bounded: two fields
      unknown.push(unknownContact(field, name, contacts, suggestions));
    }
  }
  return { patch: resolved, unknown };
}

function unknownContact(
  field: ScalarField,
  name: string,
  { names }: KnownContacts,
  suggestions: Suggest,
): FieldProblem {
  const [nearest] = suggestions.of(name, names, 1);
  const advice = nearest === undefined
    ? "store it first with PUT /seller_api/contacts/:name."
    : `the nearest is ${quote(nearest)}.`;
  return {
    field,
    code: "unknown_contact",
    message: `is ${
      quote(name)
    }, and you have no contact of this name; ${advice}`,
  };
}
