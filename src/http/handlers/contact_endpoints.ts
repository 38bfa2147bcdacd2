/** A seller's contacts, and their changes for operators. */
import {
  type Contact,
  CONTACT_ELEMENT_NAMES,
  CONTACTS_LIMIT,
  readContact,
} from "../../catalogue/contact.ts";
import {
  changedContacts,
  type ContactEvent,
  deleteContact as removeContact,
  listContacts as contactsOf,
  putContact as storeContact,
  readStoredContact,
  type StoredContact,
} from "../../catalogue/contact_rows.ts";
import type { ContactNode } from "../../contracts/answers.ts";
import { CONTACT_EXAMPLE } from "../../contracts/examples.ts";
import { FIRST_CHANGE } from "../../database/change_feed.ts";
import type { Sql } from "../../database/db.ts";
import { readSku } from "../../lib/values.ts";
import { isoTime, type XmlNode } from "../../xml/encode.ts";
import { SMALL_DOCUMENT_BYTES } from "../../xml/small_document.ts";
import { jsonCursor } from "../server/cursor.ts";
import { readPage } from "../server/list.ts";
import { AFTER, PAGE_SIZE } from "../server/parameters.ts";
import { QueryReader } from "../server/query.ts";
import { endpoint } from "../server/route.ts";
import { CHANGE_CURSOR } from "./change_cursor.ts";

export const putContact = endpoint({
  operation: "putContact",
  title: "Store a contact",
  about:
    "Stores who answers for products, under a name of 1 to 64 characters. " +
    "Products have this name as `<manufacturer>` or `<responsible_person>`. " +
    "A stored contact with the same name is replaced, also for the products " +
    `that name it. You can store ${CONTACTS_LIMIT} contacts.`,
  sends: { root: "contact", example: CONTACT_EXAMPLE },
  answers: ["success"],
}, async ({ services, seller, params, document }) => {
  const root = await document(SMALL_DOCUMENT_BYTES);
  const contact = readContact(root, params.name);
  await storeContact(services, seller, params.name, contact);
  return { xml: { success: true } };
});

const NAME_CURSOR = jsonCursor<string>({
  toJson: (name) => name,
  fromJson: (value) => {
    const read = typeof value === "string" && readSku(value);
    return read && "value" in read ? read.value : null;
  },
});

export const listContacts = endpoint({
  operation: "listContacts",
  title: "List contacts",
  about: "Your contacts, in the order of their names.",
  parameters: [AFTER, PAGE_SIZE],
  answers: ["contacts"],
}, async (exchange) => {
  const reader = new QueryReader(exchange.query);
  const place = { after: reader.cursor(NAME_CURSOR), limit: reader.limit() };
  reader.finish();
  const { no } = exchange.seller;
  const { list, next } = await readPage(
    exchange,
    "contact",
    place,
    async (sql, after, limit) => {
      const found = await contactsOf(sql, no, { after, limit });
      const entries = found.map((contact) => ({
        node: contactNode(contact),
        cursor: contact.name,
      }));
      const isFull = found.length === limit;
      return { entries, next: isFull ? found[limit - 1].name : null };
    },
    no,
  );
  return {
    xml: { contacts: { contact: list }, next: next && NAME_CURSOR.write(next) },
  };
});

export const getContact = endpoint({
  operation: "getContact",
  title: "Read a contact",
  about: "The contact as it was stored.",
  answers: ["contact"],
}, async ({ services, seller, params }) => {
  const contact = await services.db.of(seller.no).read(
    (sql) => readStoredContact(sql, seller.no, params.name),
  );
  return { xml: { contact: contactNode(contact) } };
});

export const deleteContact = endpoint({
  operation: "deleteContact",
  title: "Delete a contact",
  about:
    "Products can no longer name the contact; products that name it already " +
    "keep it. You can use the name for another contact at once.",
  answers: ["success"],
}, async ({ services, seller, params }) => {
  await removeContact(services, seller, params.name);
  return { xml: { success: true } };
});

function contactNode(
  { name, updatedAt, ...contact }: StoredContact,
): ContactNode {
  return { name, updated_at: isoTime(updatedAt), ...elementsOf(contact) };
}

/** The elements of a contact, without its id. */
function elementsOf(contact: Contact): Contact {
  return Object.fromEntries(
    CONTACT_ELEMENT_NAMES.map((name) => [name, contact[name]]),
  ) as unknown as Contact;
}

export const followContacts = endpoint({
  operation: "followContacts",
  title: "Follow the contacts",
  about:
    "The latest state of each contact of all sellers, in the order of change. " +
    "A deleted contact has deleted_at, and only its id, seller and name. A " +
    "change of a contact does not change the products that name it. Every " +
    "page that is not empty has a <next>, which never expires: store it, and " +
    "send it as after in the next request.",
  parameters: [AFTER, PAGE_SIZE],
  answers: ["contact_changes"],
}, async (exchange) => {
  const reader = new QueryReader(exchange.query);
  const place = {
    after: reader.cursor(CHANGE_CURSOR) ?? FIRST_CHANGE,
    limit: reader.limit(),
  };
  reader.finish();
  const { list, after } = await readPage(
    exchange,
    "contact",
    place,
    async (sql: Sql, after, count) => {
      const changes = await changedContacts(sql, after, count);
      const entries = changes.map((change) => ({
        node: changeNode(change),
        cursor: change.cursor,
      }));
      const isFull = changes.length === count;
      return { entries, next: isFull ? entries[count - 1].cursor : null };
    },
    null,
  );
  return {
    xml: {
      contacts: { contact: list },
      next: list.count === 0 ? undefined : CHANGE_CURSOR.write(after),
    },
  };
});

function changeNode({ id, name, owner, ...change }: ContactEvent): XmlNode {
  const named = { id, seller: owner.name, seller_id: owner.id, name };
  return "deletedAt" in change
    ? { "@deleted_at": isoTime(change.deletedAt), ...named }
    : {
      ...named,
      updated_at: isoTime(change.updatedAt),
      ...elementsOf(change.contact),
    };
}
