/** Rows of `contacts`, and the tombstones of deleted ones. */
import {
  type ChangeCursor,
  type Placed,
  readChanges,
  WITHIN,
} from "../database/change_feed.ts";
import {
  inReach,
  LIMIT,
  type Param,
  placeholders,
  query,
  splitIntoLists,
  type Sql,
  type Tx,
} from "../database/db.ts";
import { where } from "../database/where.ts";
import {
  fieldDetail,
  notFound,
  type Problem,
  recordInvalid,
  type ServiceError,
} from "../lib/errors.ts";
import type { Deps } from "../deps.ts";
import { readSku, trimSpace } from "../lib/values.ts";
import type { Services } from "../services.ts";
import { lockForCounting, requireActive } from "../sellers/access.ts";
import { OWNER_NAME } from "../sellers/seller_rows.ts";
import type { Caller, Seller } from "../sellers/seller.ts";
import {
  type Contact,
  type ContactKey,
  CONTACTS_LIMIT,
  type KnownContacts,
} from "./contact.ts";
import { type OwnedRow, type Owner, ownerOf } from "./product_lists.ts";
import type { SellerKeys } from "./product_rows.ts";

/** A contact that is not deleted. */
export interface StoredContact extends ContactKey, Contact {
  /** Unix milliseconds. */
  updatedAt: number;
}

interface ContactRow extends ContactKey {
  updatedAt: number;
  content: string;
}

const FOUND =
  'SELECT id, name, updated_at AS "updatedAt", content FROM contacts';

function toContact({ content, ...row }: ContactRow): StoredContact {
  return { ...row, ...JSON.parse(content) as Contact };
}

/**
 * Stores a contact, or replaces the content of the contact with this name.
 * Throws 422 for an invalid name and beyond the limit.
 */
export async function putContact(
  { db, deps }: Pick<Services, "db" | "deps">,
  seller: Caller,
  name: string,
  contact: Contact,
): Promise<void> {
  const read = readName(name);
  await db.of(seller.no).write(async (tx) => {
    await lockForCounting(tx, seller.no);
    await requireActive(tx, seller);
    await writeContact(tx, deps, seller, read, contact);
  }, { changes: true });
}

/** Reads a name by the rule of SKUs, without the spaces around it. */
function readName(name: string): string {
  const trimmed = trimSpace(name);
  if (trimmed === "") {
    throw refusedName({ code: "required", message: "is empty." });
  }
  const read = readSku(trimmed);
  if ("problem" in read) throw refusedName(read.problem);
  return read.value;
}

function refusedName(problem: Problem): ServiceError {
  return recordInvalid([fieldDetail({ field: "name", ...problem }, {})]);
}

/** Like `putContact`, for a valid name, after the write locked the seller. */
export async function writeContact(
  tx: Tx,
  { ids }: Pick<Deps, "ids">,
  { no }: Seller,
  name: string,
  contact: Contact,
): Promise<void> {
  const former = await findLive(tx, no, name);
  const content = JSON.stringify(contact);
  if (former?.content === content) return;
  const { number, at } = await tx.takeChanges(1, no);
  if (former !== null) {
    await tx.run(
      `UPDATE contacts SET change_no = ?, updated_at = ?, content = ?
       WHERE seller_no = ? AND id = ?`,
      [number, Math.max(at, former.updatedAt), content, no, former.id],
      1,
    );
    return;
  }
  const stored = await tx.get<{ n: number }>(
    `SELECT COUNT(*) AS n FROM contacts
     WHERE seller_no = ? AND deleted_at IS NULL`,
    [no],
  );
  if (stored!.n >= CONTACTS_LIMIT) {
    throw refusedName({
      code: "quota_exceeded",
      message: `is new, and you have ${CONTACTS_LIMIT} contacts already: ` +
        "delete one.",
    });
  }
  await tx.run(
    `INSERT INTO contacts
       (seller_no, id, name, change_no, updated_at, content)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [no, ids.uuid(), name, number, at, content],
    1,
  );
}

/** The contact of this name; null if there is none. A write also locks it. */
async function findLive(
  sql: Sql,
  sellerNo: number,
  name: string,
): Promise<ContactRow | null> {
  const row = await sql.get<ContactRow>(
    query(({ lock }) =>
      `${FOUND} WHERE seller_no = ? AND name = ? AND deleted_at IS NULL
       ${lock("FOR UPDATE")}`
    ),
    [sellerNo, name],
  );
  return row ?? null;
}

/** The contact of this name. Throws 404 if there is none. */
export async function readStoredContact(
  sql: Sql,
  sellerNo: number,
  name: string,
): Promise<StoredContact> {
  const row = await findLive(sql, sellerNo, name);
  if (row === null) throw notFound("contact");
  return toContact(row);
}

/** Contacts of a seller after a name, in the order of their names. */
export async function listContacts(
  sql: Sql,
  sellerNo: number,
  { after, limit }: { after: string | null; limit: number },
): Promise<StoredContact[]> {
  const wanted = where({ "seller_no = ?": sellerNo, "name > ?": after });
  const rows = await sql.all<ContactRow>(
    `${FOUND} ${wanted.where} AND deleted_at IS NULL ORDER BY name ${LIMIT}`,
    [...wanted.params, limit],
  );
  return rows.map(toContact);
}

/**
 * Deletes a contact. Its name is free at once; products that name the contact
 * keep it. Throws 404 if there is no contact of this name.
 */
export async function deleteContact(
  { db }: Pick<Services, "db">,
  seller: Caller,
  name: string,
): Promise<void> {
  await db.of(seller.no).write(async (tx) => {
    await requireActive(tx, seller);
    const row = await findLive(tx, seller.no, name);
    if (row === null) throw notFound("contact");
    const at = await insertTombstones(tx, seller, [row]);
    await tx.run(
      "UPDATE contacts SET deleted_at = ? WHERE seller_no = ? AND id = ?",
      [at, seller.no, row.id],
      1,
    );
  }, { changes: true });
}

/**
 * Stores a tombstone for each contact, with the name of its seller; returns the
 * time.
 */
async function insertTombstones(
  tx: Tx,
  seller: SellerKeys,
  contacts: readonly ContactKey[],
): Promise<number> {
  const { number, at } = await tx.takeChanges(contacts.length, seller.no);
  await tx.runMany(
    `INSERT INTO deleted_contacts
       (seller_no, id, seller_id, seller_name, name, deleted_at, change_no)
     SELECT seller_no, ?, id, ${OWNER_NAME}, ?, ?, ? FROM sellers
     WHERE seller_no = ?`,
    contacts.map(({ id, name }, n) => [id, name, at, number + n, seller.no]),
    1,
  );
  return at;
}

/** The most rows that one write deletes. */
const REMOVED_AT_ONCE = 100;

/**
 * Deletes some contacts of a removed seller, and stores tombstones for contacts
 * that the seller had not deleted; returns how many rows were deleted.
 */
export async function removeContacts(
  tx: Tx,
  seller: SellerKeys,
): Promise<number> {
  const rows = await tx.all<ContactKey & { deletedAt: number | null }>(
    `SELECT id, name, deleted_at AS "deletedAt" FROM contacts
     WHERE seller_no = ? ORDER BY id ${LIMIT}`,
    [seller.no, REMOVED_AT_ONCE],
  );
  if (rows.length === 0) return 0;
  const live = rows.filter(({ deletedAt }) => deletedAt === null);
  if (live.length > 0) await insertTombstones(tx, seller, live);
  await tx.runMany(
    "DELETE FROM contacts WHERE seller_no = ? AND id = ?",
    rows.map(({ id }) => [seller.no, id]),
    1,
  );
  return rows.length;
}

/** The seller's contacts of these names. */
export async function findContacts(
  sql: Sql,
  sellerNo: number,
  names: readonly string[],
): Promise<KnownContacts> {
  const wanted = new Set(names);
  const found = new Map<string, ContactKey>();
  for (const list of splitIntoLists([...wanted])) {
    const rows = await sql.all<ContactKey>(
      `SELECT id, name FROM contacts
       WHERE seller_no = ? AND deleted_at IS NULL
         AND name IN (${placeholders(list.length)})`,
      [sellerNo, ...list],
    );
    for (const row of rows) found.set(row.name, row);
  }
  return {
    find: (name) => found.get(name) ?? null,
    names: found.size < wanted.size ? await allNames(sql, sellerNo) : [],
  };
}

/** The names of all contacts, at most `CONTACTS_LIMIT`. */
async function allNames(sql: Sql, sellerNo: number): Promise<string[]> {
  const rows = await sql.all<{ name: string }>(
    `SELECT name FROM contacts
     WHERE seller_no = ? AND deleted_at IS NULL ORDER BY name ${LIMIT}`,
    [sellerNo, CONTACTS_LIMIT],
  );
  return rows.map(({ name }) => name);
}

/**
 * The contents of a seller's contacts with these ids, including deleted
 * contacts.
 */
export async function contactContents(
  sql: Sql,
  sellerNo: number,
  ids: Iterable<string>,
): Promise<Map<string, Contact>> {
  const contents = new Map<string, Contact>();
  for (const list of splitIntoLists([...new Set(ids)])) {
    const rows = await sql.all<{ id: string; content: string }>(
      `SELECT id, content FROM contacts
       WHERE seller_no = ? AND id IN (${placeholders(list.length)})`,
      [sellerNo, ...list],
    );
    for (const { id, content } of rows) contents.set(id, JSON.parse(content));
  }
  return contents;
}

/** A contact that was stored, changed or deleted. */
export type ContactEvent =
  & ContactKey
  & Placed
  & { owner: Owner }
  & ({ updatedAt: number; contact: Contact } | { deletedAt: number });

/**
 * The contacts of all sellers that changed or were deleted after `after`, in the
 * order of their last change, as `readChanges` reads them.
 */
export async function changedContacts(
  sql: Sql,
  after: ChangeCursor,
  limit: number,
): Promise<ContactEvent[]> {
  return await readChanges<ContactEvent>(sql, after, limit, {
    tables: { contacts: LIVE, deleted_contacts: "" },
    within: async (span) => [
      ...await contactsWithin(sql, span),
      ...await tombstonesWithin(sql, span),
    ],
  });
}

/** The condition of contacts that are not deleted. */
const LIVE = "AND deleted_at IS NULL";

type ChangedRow = OwnedRow & ContactKey & { change: number };

async function contactsWithin(
  sql: Sql,
  span: readonly Param[],
): Promise<ContactEvent[]> {
  const rows = await sql.all<
    ChangedRow & { updatedAt: number; content: string }
  >(
    `SELECT p.change_no AS change, p.id, p.name, p.updated_at AS "updatedAt",
       p.content, sellers.seller_no AS "ownerNo", sellers.id AS "ownerId",
       ${OWNER_NAME} AS "ownerName"
     FROM contacts p JOIN sellers ON sellers.seller_no = p.seller_no
     WHERE ${WITHIN} ${LIVE} ${inReach("p.seller_no")}`,
    span,
  );
  return rows.map(({ updatedAt, content, ...row }) => ({
    ...changeOf(row),
    updatedAt,
    contact: JSON.parse(content),
  }));
}

async function tombstonesWithin(
  sql: Sql,
  span: readonly Param[],
): Promise<ContactEvent[]> {
  const rows = await sql.all<ChangedRow & { deletedAt: number }>(
    `SELECT p.change_no AS change, p.id, p.name, p.deleted_at AS "deletedAt",
       p.seller_no AS "ownerNo", p.seller_id AS "ownerId",
       COALESCE(${OWNER_NAME}, p.seller_name) AS "ownerName"
     FROM deleted_contacts p LEFT JOIN sellers ON sellers.seller_no = p.seller_no
     WHERE ${WITHIN} ${inReach("p.seller_no")}`,
    span,
  );
  return rows.map(({ deletedAt, ...row }) => ({ ...changeOf(row), deletedAt }));
}

function changeOf({ change, id, name, ...owner }: ChangedRow) {
  return { id, name, owner: ownerOf(owner), cursor: { change, id } };
}
