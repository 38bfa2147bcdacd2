/**
 * The schema, as an append-only list: a migration that was released is never
 * changed. Each runs once, in a transaction, in order.
 */
import type { Deps } from "../deps.ts";

export interface Migration {
  name: string;
  sql: string;
  /** For PostgreSQL, where `dialect.ts` cannot translate `sql`. */
  postgres?: string;
}

/** What tells of upgrades. */
export type MigrationDeps = Pick<Deps, "clock" | "log">;

/**
 * Logs that the upgrade of a database begins, as it may take minutes where there
 * are many rows; the result logs its end. Silent where there is nothing to
 * upgrade: in a new database, or in one with the present schema.
 */
export function logUpgrade(
  { clock, log }: MigrationDeps,
  from: number,
  to: number,
): () => void {
  if (from === 0 || from === to) return () => {};
  const begun = clock.monotonic();
  log.info("schema_upgrade", { from, to });
  return () => {
    const ms = Math.round(clock.monotonic() - begun);
    log.info("schema_upgraded", { from, to, ms });
  };
}

export const MIGRATIONS: readonly Migration[] = [
  {
    name: "sellers, products, transactions, images, webhooks",
    sql: `
CREATE TABLE sellers (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  webhook_secret TEXT NOT NULL,
  old_webhook_secret TEXT,
  old_webhook_secret_until INTEGER,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
  id TEXT NOT NULL PRIMARY KEY,
  seller_id TEXT NOT NULL REFERENCES sellers (id),
  hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;
CREATE INDEX api_keys_seller ON api_keys (seller_id, id);

-- categories, attributes and images are JSON lists, in the seller's order
CREATE TABLE products (
  id TEXT NOT NULL PRIMARY KEY,
  seller_id TEXT NOT NULL REFERENCES sellers (id),
  sku TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT,
  price TEXT NOT NULL,
  currency TEXT NOT NULL,
  compare_at_price TEXT,
  vat_rate TEXT,
  quantity INTEGER,
  availability TEXT NOT NULL,
  available_at TEXT,
  gtin TEXT,
  brand TEXT,
  mpn TEXT,
  condition TEXT NOT NULL,
  status TEXT NOT NULL,
  parent_sku TEXT,
  categories TEXT NOT NULL,
  attributes TEXT NOT NULL,
  images TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (seller_id, sku)
) STRICT;

-- results is a JSON list of [product id, sku, result, [image ordinals]]
CREATE TABLE transactions (
  id TEXT NOT NULL PRIMARY KEY,
  seller_id TEXT NOT NULL REFERENCES sellers (id),
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  products_created INTEGER NOT NULL,
  products_updated INTEGER NOT NULL,
  products_unchanged INTEGER NOT NULL,
  images_pending INTEGER NOT NULL,
  images_stored INTEGER NOT NULL,
  images_reused INTEGER NOT NULL,
  images_failed INTEGER NOT NULL,
  results TEXT NOT NULL
) STRICT;
CREATE INDEX transactions_seller ON transactions (seller_id, id);

-- one row for each URL, whoever uses it: the stored copy and the job to fetch it;
-- due_at is when the job may be taken: its next attempt, or the end of its lease
CREATE TABLE images (
  id TEXT NOT NULL PRIMARY KEY,
  url TEXT NOT NULL UNIQUE,
  origin TEXT NOT NULL,
  seller_id TEXT NOT NULL REFERENCES sellers (id),
  state TEXT NOT NULL,
  due_at INTEGER,
  lease_id TEXT,
  attempts INTEGER NOT NULL,
  crashes INTEGER NOT NULL,
  code TEXT,
  message TEXT,
  sha256 TEXT,
  type TEXT,
  bytes INTEGER,
  width INTEGER,
  height INTEGER,
  validator TEXT,
  stored_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX images_queue ON images (state, seller_id, origin, due_at)
  WHERE due_at IS NOT NULL;
CREATE INDEX images_leases ON images (lease_id) WHERE lease_id IS NOT NULL;
CREATE INDEX images_sha256 ON images (sha256) WHERE sha256 IS NOT NULL;

-- one row for each distinct URL of a transaction; refs counts its uses, lease_id
-- is the attempt that was under way when the image was asked for
CREATE TABLE transaction_images (
  transaction_id TEXT NOT NULL REFERENCES transactions (id),
  ordinal INTEGER NOT NULL,
  image_id TEXT NOT NULL REFERENCES images (id),
  refs INTEGER NOT NULL,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  code TEXT,
  message TEXT,
  validator TEXT,
  lease_id TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (transaction_id, ordinal)
) STRICT;
CREATE INDEX transaction_images_waiting ON transaction_images (image_id)
  WHERE status = 'pending';

CREATE TABLE webhooks (
  id TEXT NOT NULL PRIMARY KEY,
  seller_id TEXT NOT NULL REFERENCES sellers (id),
  trigger_name TEXT NOT NULL,
  url TEXT NOT NULL,
  failures INTEGER NOT NULL,
  failing_since INTEGER,
  disabled_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (seller_id, trigger_name)
) STRICT;

-- the answer that a used Idempotency-Key is answered with again
CREATE TABLE idempotency_keys (
  seller_id TEXT NOT NULL REFERENCES sellers (id),
  key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  transaction_id TEXT NOT NULL REFERENCES transactions (id),
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (seller_id, key)
) STRICT;
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);
`,
  },
  {
    name: "events, deliveries",
    sql: `
-- body is what is signed and sent; it goes when the delivery is swept, while
-- the row stays, so that a reference is never delivered twice. delivery_id is
-- null when no webhook was registered; reference is null for a test event
CREATE TABLE events (
  id TEXT NOT NULL PRIMARY KEY,
  seller_id TEXT NOT NULL REFERENCES sellers (id),
  trigger_name TEXT NOT NULL,
  reference TEXT,
  body BLOB,
  delivery_id TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (seller_id, trigger_name, reference)
) STRICT;
CREATE INDEX events_undelivered ON events (created_at)
  WHERE delivery_id IS NULL AND body IS NOT NULL;

-- due_at is set while the delivery waits for its turn, lease_id and lease_until
-- while it is being sent, settled_at once it needs nothing more; failures is the
-- place in the schedule. A webhook may be deleted, so no foreign key
CREATE TABLE deliveries (
  id TEXT NOT NULL PRIMARY KEY,
  event_id TEXT NOT NULL UNIQUE REFERENCES events (id),
  seller_id TEXT NOT NULL REFERENCES sellers (id),
  trigger_name TEXT NOT NULL,
  webhook_id TEXT NOT NULL,
  state TEXT NOT NULL,
  due_at INTEGER,
  lease_id TEXT,
  lease_until INTEGER,
  attempts INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  last_answer TEXT,
  created_at INTEGER NOT NULL,
  settled_at INTEGER
) STRICT;
CREATE INDEX deliveries_queue ON deliveries (webhook_id, due_at, id)
  WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_leased ON deliveries (lease_until)
  WHERE lease_until IS NOT NULL;
CREATE INDEX deliveries_held ON deliveries (webhook_id)
  WHERE state = 'held';
CREATE INDEX deliveries_settled ON deliveries (state, settled_at)
  WHERE settled_at IS NOT NULL;
CREATE INDEX deliveries_seller ON deliveries (seller_id, trigger_name, id);

-- inserted when a delivery is claimed: one without an end was cut off
CREATE TABLE delivery_attempts (
  delivery_id TEXT NOT NULL REFERENCES deliveries (id),
  number INTEGER NOT NULL,
  url TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  duration_ms INTEGER,
  status INTEGER,
  error TEXT,
  address TEXT,
  answer TEXT,
  PRIMARY KEY (delivery_id, number)
) STRICT;
`,
  },
  {
    name: "read-out: order of change, lists, counts by the hour",
    sql: `
-- the number of the last change of the catalogue; its one row stays locked
-- until the commit, so numbers become visible in their order
CREATE TABLE change_counter (
  id INTEGER NOT NULL PRIMARY KEY,
  n INTEGER NOT NULL
) STRICT;
INSERT INTO change_counter (id, n) VALUES (1, 0);

ALTER TABLE products ADD COLUMN change_no INTEGER NOT NULL DEFAULT 0;
CREATE INDEX products_changes ON products (change_no);
CREATE INDEX products_seller ON products (seller_id, id);

-- which products show an image, to find them when it changes; without foreign
-- keys, whose checks cost as much as the rows
CREATE TABLE product_images (
  image_id TEXT NOT NULL,
  product_id TEXT NOT NULL,
  PRIMARY KEY (image_id, product_id)
) STRICT, WITHOUT ROWID;

-- images that changed and have so many products that the rest of them, those
-- after product_id, still have to get the number of a change
CREATE TABLE changed_images (
  image_id TEXT NOT NULL PRIMARY KEY REFERENCES images (id),
  product_id TEXT NOT NULL
) STRICT;

-- hour is Unix time in hours
CREATE TABLE hourly_counts (
  hour INTEGER NOT NULL,
  name TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (hour, name)
) STRICT;

CREATE INDEX webhooks_failing ON webhooks (failing_since)
  WHERE failing_since IS NOT NULL;
`,
  },
  {
    name: "the row that is written to see whether anything can be",
    sql: `
CREATE TABLE health (
  id INTEGER NOT NULL PRIMARY KEY,
  looked_at INTEGER NOT NULL
) STRICT;
`,
  },
  {
    name: "image URLs as long as they may be",
    sql: "-- SQLite takes them as they are",
    postgres: `
ALTER TABLE images DROP CONSTRAINT images_url_key;
CREATE UNIQUE INDEX images_url_once ON images (md5(url), md5(reverse(url)));
CREATE INDEX images_url ON images USING hash (url);
`,
  },
  {
    name: "the time of the last change of the catalogue",
    sql: `
-- Unix milliseconds; no later change has an earlier time
ALTER TABLE change_counter ADD COLUMN changed_at INTEGER NOT NULL DEFAULT 0;
UPDATE change_counter
  SET changed_at = COALESCE((SELECT MAX(updated_at) FROM products), 0);
`,
  },
  {
    name: "products: weight",
    sql: "ALTER TABLE products ADD COLUMN weight INTEGER;",
  },
  {
    name: "lists of products by their indexes alone",
    sql: `
DROP INDEX products_changes;
CREATE INDEX products_changes ON products (change_no, id);
-- with what lists are filtered by: rows of products can be long
DROP INDEX products_seller;
CREATE INDEX products_seller ON products (seller_id, id, status, updated_at);
`,
  },
  {
    name: "quotas of sellers, and what counts against them",
    sql: `
-- null: the default of the settings
ALTER TABLE sellers ADD COLUMN product_limit INTEGER;
ALTER TABLE sellers ADD COLUMN image_quota INTEGER;

-- without foreign keys, whose checks cost as much as the rows
CREATE TABLE seller_usage (
  seller_id TEXT NOT NULL,
  resource TEXT NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (seller_id, resource)
) STRICT, WITHOUT ROWID;
INSERT INTO seller_usage (seller_id, resource, used)
  SELECT seller_id, 'products', COUNT(*) FROM products GROUP BY seller_id;

-- against whose quota the stored copy counts; null where there is none, or none
-- waited for it but the service itself
ALTER TABLE images ADD COLUMN payer_id TEXT;
UPDATE images SET payer_id = seller_id WHERE sha256 IS NOT NULL;
INSERT INTO seller_usage (seller_id, resource, used)
  SELECT payer_id, 'image_bytes', SUM(bytes) FROM images
  WHERE payer_id IS NOT NULL GROUP BY payer_id;
`,
  },
  {
    name: "webhooks: secrets of their own, why they fail",
    sql: `
-- former secrets are JSON lists of [secret, Unix milliseconds until which it
-- signs too]
ALTER TABLE sellers ADD COLUMN former_webhook_secrets TEXT NOT NULL
  DEFAULT '[]';
UPDATE sellers SET former_webhook_secrets =
    '[["' || old_webhook_secret || '",' || old_webhook_secret_until || ']]'
  WHERE old_webhook_secret_until IS NOT NULL;
ALTER TABLE sellers DROP COLUMN old_webhook_secret;
ALTER TABLE sellers DROP COLUMN old_webhook_secret_until;

-- a webhook without a secret signs with those of its seller
ALTER TABLE webhooks ADD COLUMN secret TEXT;
ALTER TABLE webhooks ADD COLUMN former_secrets TEXT NOT NULL DEFAULT '[]';
-- of the last try, while it fails: a status, or why there was no answer
ALTER TABLE webhooks ADD COLUMN last_error TEXT;
`,
  },
  {
    name: "whoever waits for an image, in a row for each seller",
    sql: `
-- the sellers who wait for a pending image: it is fetched in the turn of
-- whichever comes first; due_at is when its next attempt may begin. Without
-- foreign keys, whose checks cost as much as the rows
CREATE TABLE image_askers (
  image_id TEXT NOT NULL,
  seller_id TEXT NOT NULL,
  origin TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  PRIMARY KEY (image_id, seller_id)
) STRICT, WITHOUT ROWID;
INSERT INTO image_askers (image_id, seller_id, origin, due_at)
  SELECT id, seller_id, origin, due_at FROM images
  WHERE due_at IS NOT NULL ORDER BY id;
CREATE INDEX image_askers_queue ON image_askers (seller_id, origin, due_at);

-- lease_until is the end of the lease, null without one
DROP INDEX images_queue;
DROP INDEX images_leases;
ALTER TABLE images RENAME COLUMN due_at TO lease_until;
UPDATE images SET lease_until = NULL WHERE lease_id IS NULL;
ALTER TABLE images DROP COLUMN seller_id;
CREATE INDEX images_leases ON images (lease_until, lease_id)
  WHERE lease_id IS NOT NULL;
UPDATE images SET state = 'pending' WHERE state = 'suspect';

-- attempts counts all that ever ended; those beyond after_attempt count for the
-- image's retry schedule, and for whoever waits for it
ALTER TABLE images ADD COLUMN after_attempt INTEGER NOT NULL DEFAULT 0;
ALTER TABLE transaction_images
  ADD COLUMN after_attempt INTEGER NOT NULL DEFAULT 0;

DROP INDEX transaction_images_waiting;
CREATE INDEX transaction_images_waiting
  ON transaction_images (image_id, transaction_id, ordinal)
  WHERE status = 'pending';

-- ends of images of which not all who wait have been told: the rest of them,
-- those after (transaction_id, ordinal), still have to be
CREATE TABLE image_answers (
  image_id TEXT NOT NULL REFERENCES images (id),
  attempt INTEGER NOT NULL,
  lease_id TEXT NOT NULL,
  status TEXT NOT NULL,
  code TEXT,
  message TEXT,
  validator TEXT,
  transaction_id TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  PRIMARY KEY (image_id, attempt)
) STRICT;
`,
  },
  {
    name: "what the operator steers: status and limits, operator keys, audit",
    sql: `
-- active, suspended, or removed while the rest of its rows are being deleted
ALTER TABLE sellers ADD COLUMN status TEXT NOT NULL DEFAULT 'active';
-- requests a minute; null: the default of the settings
ALTER TABLE sellers ADD COLUMN rate_limit INTEGER;

-- prefix is how the key begins; last_used_at is exact to the minute
ALTER TABLE api_keys ADD COLUMN label TEXT;
ALTER TABLE api_keys ADD COLUMN prefix TEXT;
ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER;

CREATE TABLE operator_keys (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  read_only INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;
CREATE UNIQUE INDEX operator_keys_name ON operator_keys (name)
  WHERE revoked_at IS NULL;

-- a row for each change that an operator made; it keeps names, as what they
-- name may be gone
CREATE TABLE audit_log (
  id TEXT NOT NULL PRIMARY KEY,
  at INTEGER NOT NULL,
  who TEXT NOT NULL,
  action TEXT NOT NULL,
  seller TEXT,
  detail TEXT NOT NULL
) STRICT;
`,
  },
  {
    name: "events: their order, and those of a time",
    sql: `
-- the number of the seller's last event that has one
ALTER TABLE sellers ADD COLUMN last_event_no INTEGER NOT NULL DEFAULT 0;

-- null: a test event; negative: not numbered yet
ALTER TABLE events ADD COLUMN event_no INTEGER;
UPDATE events SET event_no = numbered.n
  FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY seller_id ORDER BY id) AS n
        FROM events WHERE reference IS NOT NULL) AS numbered
  WHERE numbered.id = events.id;
UPDATE sellers SET last_event_no = COALESCE(
  (SELECT MAX(event_no) FROM events WHERE seller_id = sellers.id), 0);

CREATE INDEX events_feed ON events (seller_id, event_no)
  WHERE event_no IS NOT NULL AND body IS NOT NULL;
CREATE INDEX events_feed_trigger ON events (seller_id, trigger_name, event_no)
  WHERE event_no IS NOT NULL AND body IS NOT NULL;
CREATE INDEX events_times ON events (seller_id, trigger_name, created_at, id)
  WHERE event_no IS NOT NULL AND body IS NOT NULL;
`,
  },
  {
    name: "refused requests of sellers",
    sql: `
-- the last hundred of each seller; id is the request's. details is a JSON list.
-- Without foreign keys: losing a race against a removal harms nobody
CREATE TABLE refusals (
  id TEXT NOT NULL PRIMARY KEY,
  seller_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  route TEXT,
  status INTEGER NOT NULL,
  code TEXT NOT NULL,
  message TEXT NOT NULL,
  size INTEGER,
  details TEXT NOT NULL,
  more INTEGER NOT NULL
) STRICT;
CREATE INDEX refusals_seller ON refusals (seller_id, id);
`,
  },
  {
    name: "tombstones of products",
    sql: `
-- kept for ever; seller_name for when the seller is gone, too. Without foreign
-- keys, for the same reason
CREATE TABLE deleted_products (
  id TEXT NOT NULL PRIMARY KEY,
  seller_id TEXT NOT NULL,
  seller_name TEXT NOT NULL,
  sku TEXT NOT NULL,
  deleted_at INTEGER NOT NULL,
  change_no INTEGER NOT NULL
) STRICT;
CREATE INDEX deleted_products_changes ON deleted_products (change_no, id);
`,
  },
  {
    name: "retention: what is old is found by indexes",
    sql: `
CREATE INDEX transactions_final ON transactions (finished_at)
  WHERE finished_at IS NOT NULL;
CREATE INDEX idempotency_keys_transaction ON idempotency_keys (transaction_id);
CREATE INDEX events_references ON events (created_at) WHERE body IS NULL;
`,
  },
  {
    name: "retention: since when nothing needs an image",
    sql: `
-- Unix milliseconds, as the sweep saw it first; null: something needed it then
ALTER TABLE images ADD COLUMN unneeded_since INTEGER;
CREATE INDEX transaction_images_image ON transaction_images (image_id);
`,
  },
  {
    name: "undo of transactions",
    sql: `
-- by the place of a product among the results; see catalogue/undo_record.ts
CREATE TABLE undo_records (
  transaction_id TEXT NOT NULL PRIMARY KEY
    REFERENCES transactions (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  record TEXT NOT NULL
) STRICT;
CREATE INDEX undo_records_age ON undo_records (created_at);

ALTER TABLE transactions ADD COLUMN products_deleted INTEGER NOT NULL DEFAULT 0;
-- a transaction is undone once
ALTER TABLE transactions ADD COLUMN undoes TEXT;
CREATE UNIQUE INDEX transactions_undoes ON transactions (undoes)
  WHERE undoes IS NOT NULL;
`,
  },
  {
    name: "refused products of uploads that stored the others",
    sql: `
ALTER TABLE transactions ADD COLUMN products_refused INTEGER NOT NULL DEFAULT 0;

-- bytes is the length of the document, kept_bytes what is kept with it
CREATE TABLE refused_documents (
  transaction_id TEXT NOT NULL PRIMARY KEY
    REFERENCES transactions (id) ON DELETE CASCADE,
  seller_id TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  kept_bytes INTEGER NOT NULL
) STRICT;
CREATE INDEX refused_documents_seller
  ON refused_documents (seller_id, transaction_id, kept_bytes);

CREATE TABLE refused_pieces (
  transaction_id TEXT NOT NULL
    REFERENCES refused_documents (transaction_id) ON DELETE CASCADE,
  piece INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (transaction_id, piece)
) STRICT;

-- product is its position in the document, details a JSON list
CREATE TABLE refused_products (
  transaction_id TEXT NOT NULL
    REFERENCES refused_documents (transaction_id) ON DELETE CASCADE,
  product INTEGER NOT NULL,
  details TEXT NOT NULL,
  more INTEGER NOT NULL,
  PRIMARY KEY (transaction_id, product)
) STRICT;
`,
  },
  {
    name: "removal of sellers",
    sql: `
-- null until the seller is removed, which frees its name at once
ALTER TABLE sellers ADD COLUMN former_name TEXT;
CREATE INDEX sellers_removed ON sellers (id) WHERE status = 'removed';

-- unneeded_since is 0 where a removed seller may have been the last to use an
-- image
CREATE INDEX images_abandoned ON images (id) WHERE unneeded_since = 0;
CREATE INDEX images_payer ON images (payer_id) WHERE payer_id IS NOT NULL;
`,
  },
  {
    name: "products: keys that begin with the seller",
    sql: `
-- small, so that keys are; for rows of which there are many
ALTER TABLE sellers ADD COLUMN seller_no INTEGER NOT NULL DEFAULT 0;
UPDATE sellers SET seller_no = numbered.n
  FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS n FROM sellers)
    AS numbered
  WHERE numbered.id = sellers.id;
CREATE UNIQUE INDEX sellers_no ON sellers (seller_no);

-- numbers from 1, each of one product, for those that had none: many equal ones
-- would make each page of the feed a sort of all of them
UPDATE products SET change_no = change_no +
    (SELECT COUNT(*) FROM products WHERE change_no = 0)
  WHERE change_no > 0 AND EXISTS (SELECT 1 FROM products WHERE change_no = 0);
UPDATE deleted_products SET change_no = change_no +
    (SELECT COUNT(*) FROM products WHERE change_no = 0);
UPDATE change_counter SET n = n +
    (SELECT COUNT(*) FROM products WHERE change_no = 0);
UPDATE products SET change_no = numbered.n
  FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS n FROM products
        WHERE change_no = 0) AS numbered
  WHERE numbered.id = products.id;

-- what is long comes last: whatever is before it is read without it
ALTER TABLE products RENAME TO old_products;
CREATE TABLE products (
  seller_no INTEGER NOT NULL REFERENCES sellers (seller_no),
  id TEXT NOT NULL,
  sku TEXT NOT NULL,
  change_no INTEGER NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  quantity INTEGER,
  availability TEXT NOT NULL,
  available_at TEXT,
  price TEXT NOT NULL,
  currency TEXT NOT NULL,
  compare_at_price TEXT,
  vat_rate TEXT,
  condition TEXT NOT NULL,
  weight INTEGER,
  gtin TEXT,
  mpn TEXT,
  brand TEXT,
  parent_sku TEXT,
  title TEXT NOT NULL,
  categories TEXT NOT NULL,
  images TEXT NOT NULL,
  attributes TEXT NOT NULL,
  description TEXT,
  PRIMARY KEY (seller_no, id)
) STRICT;
INSERT INTO products (seller_no, id, sku, change_no, status, created_at,
    updated_at, quantity, availability, available_at, price, currency,
    compare_at_price, vat_rate, condition, weight, gtin, mpn, brand, parent_sku,
    title, categories, images, attributes, description)
  SELECT (SELECT seller_no FROM sellers WHERE sellers.id = seller_id), id, sku,
    change_no, status, created_at, updated_at, quantity, availability,
    available_at, price, currency, compare_at_price, vat_rate, condition,
    weight, gtin, mpn, brand, parent_sku, title, categories, images, attributes,
    description
  FROM old_products ORDER BY seller_id, id;

-- without foreign keys, as before; the number first, as the keys of products
ALTER TABLE product_images RENAME TO old_product_images;
CREATE TABLE product_images (
  image_id TEXT NOT NULL,
  seller_no INTEGER NOT NULL,
  product_id TEXT NOT NULL,
  PRIMARY KEY (image_id, seller_no, product_id)
) STRICT, WITHOUT ROWID;
INSERT INTO product_images (image_id, seller_no, product_id)
  SELECT image_id, (SELECT seller_no FROM sellers WHERE sellers.id = seller_id),
    product_id
  FROM old_product_images CROSS JOIN old_products
  WHERE old_products.id = product_id ORDER BY image_id;
DROP TABLE old_product_images;
DROP TABLE old_products;
CREATE UNIQUE INDEX products_sku ON products (seller_no, sku);

-- products of changed images up to (seller_no, product_id) have their number
ALTER TABLE changed_images ADD COLUMN seller_no INTEGER NOT NULL DEFAULT 0;
UPDATE changed_images SET product_id = '';
`,
  },
  {
    name: "products: a small index of changes",
    // Numbers are nearly unique on SQLite; what one transaction of PostgreSQL
    // changed has one number.
    sql: "CREATE INDEX products_changes ON products (change_no);",
    postgres: "CREATE INDEX products_changes ON products (change_no, id);",
  },
  {
    name: "products: ids of 16 bytes",
    // As bytes they would be no faster there.
    sql: "-- SQLite has no type for them",
    postgres: `
UPDATE changed_images
  SET seller_no = 0, product_id = '00000000-0000-0000-0000-000000000000';
ALTER TABLE products ALTER COLUMN id TYPE UUID USING id::uuid;
ALTER TABLE product_images
  ALTER COLUMN product_id TYPE UUID USING product_id::uuid;
ALTER TABLE changed_images
  ALTER COLUMN product_id TYPE UUID USING product_id::uuid;
ALTER TABLE deleted_products ALTER COLUMN id TYPE UUID USING id::uuid;
`,
  },
  {
    name: "maintenance jobs that continue where they were",
    sql: `
-- how far a job of src/operations/maintenance.ts has read what it goes round
CREATE TABLE maintenance_positions (
  job TEXT NOT NULL PRIMARY KEY,
  position TEXT NOT NULL
) STRICT;
`,
  },
  {
    name: "counters that many writes change: a row for each shard",
    sql: `
ALTER TABLE seller_usage RENAME TO old_seller_usage;
CREATE TABLE seller_usage (
  seller_id TEXT NOT NULL,
  resource TEXT NOT NULL,
  shard INTEGER NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (seller_id, resource, shard)
) STRICT, WITHOUT ROWID;
INSERT INTO seller_usage (seller_id, resource, shard, used)
  SELECT seller_id, resource, 0, used FROM old_seller_usage;
DROP TABLE old_seller_usage;

ALTER TABLE hourly_counts RENAME TO old_hourly_counts;
CREATE TABLE hourly_counts (
  hour INTEGER NOT NULL,
  name TEXT NOT NULL,
  shard INTEGER NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (hour, name, shard)
) STRICT;
INSERT INTO hourly_counts (hour, name, shard, n)
  SELECT hour, name, 0, n FROM old_hourly_counts;
DROP TABLE old_hourly_counts;
`,
  },
  {
    name: "uploads and events: small keys of sellers, ids of 16 bytes",
    // Keys of uploads begin with the seller, which saves a tree. Those of events
    // and deliveries do not: their ids grow, so that new rows lie together.
    sql: `
CREATE TABLE new_transactions (
  seller_no INTEGER NOT NULL REFERENCES sellers (seller_no),
  id TEXT /* UUID */ NOT NULL,
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  products_created INTEGER NOT NULL,
  products_updated INTEGER NOT NULL,
  products_unchanged INTEGER NOT NULL,
  products_deleted INTEGER NOT NULL,
  products_refused INTEGER NOT NULL,
  images_pending INTEGER NOT NULL,
  images_stored INTEGER NOT NULL,
  images_reused INTEGER NOT NULL,
  images_failed INTEGER NOT NULL,
  undoes TEXT /* UUID */,
  results TEXT NOT NULL,
  PRIMARY KEY (seller_no, id)
) STRICT;
INSERT INTO new_transactions (seller_no, id, created_at, finished_at,
    products_created, products_updated, products_unchanged, products_deleted,
    products_refused, images_pending, images_stored, images_reused,
    images_failed, undoes, results)
  SELECT seller_no, t.id /* ::UUID */, t.created_at, finished_at,
    products_created, products_updated, products_unchanged, products_deleted,
    products_refused, images_pending, images_stored, images_reused,
    images_failed, undoes /* ::UUID */, results
  FROM transactions t JOIN sellers ON sellers.id = seller_id
  ORDER BY seller_no, t.id;

CREATE TABLE new_transaction_images (
  seller_no INTEGER NOT NULL,
  transaction_id TEXT /* UUID */ NOT NULL,
  ordinal INTEGER NOT NULL,
  image_id TEXT NOT NULL REFERENCES images (id),
  refs INTEGER NOT NULL,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  code TEXT,
  message TEXT,
  validator TEXT,
  lease_id TEXT,
  after_attempt INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (transaction_id, ordinal),
  FOREIGN KEY (seller_no, transaction_id)
    REFERENCES new_transactions (seller_no, id)
) STRICT;
INSERT INTO new_transaction_images (seller_no, transaction_id, ordinal,
    image_id, refs, status, attempts, code, message, validator, lease_id,
    after_attempt, created_at)
  SELECT seller_no, transaction_id /* ::UUID */, ordinal, image_id, refs,
    i.status, attempts, code, message, validator, lease_id, after_attempt,
    i.created_at
  FROM transaction_images i JOIN transactions t ON t.id = transaction_id
    JOIN sellers ON sellers.id = t.seller_id
  ORDER BY transaction_id, ordinal;

CREATE TABLE new_undo_records (
  seller_no INTEGER NOT NULL,
  transaction_id TEXT /* UUID */ NOT NULL,
  created_at INTEGER NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (seller_no, transaction_id),
  FOREIGN KEY (seller_no, transaction_id)
    REFERENCES new_transactions (seller_no, id) ON DELETE CASCADE
) STRICT;
INSERT INTO new_undo_records (seller_no, transaction_id, created_at, record)
  SELECT seller_no, transaction_id /* ::UUID */, r.created_at, record
  FROM undo_records r JOIN transactions t ON t.id = transaction_id
    JOIN sellers ON sellers.id = t.seller_id
  ORDER BY seller_no, transaction_id;

CREATE TABLE new_refused_documents (
  seller_no INTEGER NOT NULL,
  transaction_id TEXT /* UUID */ NOT NULL,
  bytes INTEGER NOT NULL,
  kept_bytes INTEGER NOT NULL,
  PRIMARY KEY (seller_no, transaction_id),
  FOREIGN KEY (seller_no, transaction_id)
    REFERENCES new_transactions (seller_no, id) ON DELETE CASCADE
) STRICT;
INSERT INTO new_refused_documents (seller_no, transaction_id, bytes, kept_bytes)
  SELECT seller_no, transaction_id /* ::UUID */, bytes, kept_bytes
  FROM refused_documents JOIN sellers ON sellers.id = seller_id
  ORDER BY seller_no, transaction_id;

CREATE TABLE new_refused_pieces (
  seller_no INTEGER NOT NULL,
  transaction_id TEXT /* UUID */ NOT NULL,
  piece INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (seller_no, transaction_id, piece),
  FOREIGN KEY (seller_no, transaction_id)
    REFERENCES new_refused_documents (seller_no, transaction_id)
    ON DELETE CASCADE
) STRICT;
INSERT INTO new_refused_pieces (seller_no, transaction_id, piece, bytes)
  SELECT seller_no, p.transaction_id /* ::UUID */, piece, p.bytes
  FROM refused_pieces p
    JOIN refused_documents d ON d.transaction_id = p.transaction_id
    JOIN sellers ON sellers.id = d.seller_id
  ORDER BY seller_no, p.transaction_id, piece;

CREATE TABLE new_refused_products (
  seller_no INTEGER NOT NULL,
  transaction_id TEXT /* UUID */ NOT NULL,
  product INTEGER NOT NULL,
  details TEXT NOT NULL,
  more INTEGER NOT NULL,
  PRIMARY KEY (seller_no, transaction_id, product),
  FOREIGN KEY (seller_no, transaction_id)
    REFERENCES new_refused_documents (seller_no, transaction_id)
    ON DELETE CASCADE
) STRICT;
INSERT INTO new_refused_products (seller_no, transaction_id, product, details,
    more)
  SELECT seller_no, p.transaction_id /* ::UUID */, product, details, more
  FROM refused_products p
    JOIN refused_documents d ON d.transaction_id = p.transaction_id
    JOIN sellers ON sellers.id = d.seller_id
  ORDER BY seller_no, p.transaction_id, product;

CREATE TABLE new_idempotency_keys (
  seller_no INTEGER NOT NULL,
  key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  transaction_id TEXT /* UUID */ NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (seller_no, key),
  FOREIGN KEY (seller_no, transaction_id)
    REFERENCES new_transactions (seller_no, id)
) STRICT;
INSERT INTO new_idempotency_keys (seller_no, key, request_hash, transaction_id,
    expires_at)
  SELECT seller_no, key, request_hash, transaction_id /* ::UUID */, expires_at
  FROM idempotency_keys JOIN sellers ON sellers.id = seller_id
  ORDER BY seller_no, key;

CREATE TABLE new_webhooks (
  id TEXT /* UUID */ NOT NULL PRIMARY KEY,
  seller_no INTEGER NOT NULL REFERENCES sellers (seller_no),
  trigger_name TEXT NOT NULL,
  url TEXT NOT NULL,
  failures INTEGER NOT NULL,
  failing_since INTEGER,
  last_error TEXT,
  disabled_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  secret TEXT,
  former_secrets TEXT NOT NULL DEFAULT '[]',
  UNIQUE (seller_no, trigger_name)
) STRICT;
INSERT INTO new_webhooks (id, seller_no, trigger_name, url, failures,
    failing_since, last_error, disabled_at, created_at, updated_at, secret,
    former_secrets)
  SELECT w.id /* ::UUID */, seller_no, trigger_name, url, failures,
    failing_since, last_error, disabled_at, w.created_at, updated_at, secret,
    former_secrets
  FROM webhooks w JOIN sellers ON sellers.id = seller_id
  ORDER BY w.id;

CREATE TABLE new_events (
  id TEXT /* UUID */ NOT NULL PRIMARY KEY,
  seller_no INTEGER NOT NULL REFERENCES sellers (seller_no),
  trigger_name TEXT NOT NULL,
  reference TEXT,
  event_no INTEGER,
  delivery_id TEXT /* UUID */,
  created_at INTEGER NOT NULL,
  body BLOB,
  UNIQUE (seller_no, trigger_name, reference)
) STRICT;
INSERT INTO new_events (id, seller_no, trigger_name, reference, event_no,
    delivery_id, created_at, body)
  SELECT e.id /* ::UUID */, seller_no, trigger_name, reference, event_no,
    delivery_id /* ::UUID */, e.created_at, body
  FROM events e JOIN sellers ON sellers.id = seller_id
  ORDER BY e.id;

CREATE TABLE new_deliveries (
  id TEXT /* UUID */ NOT NULL PRIMARY KEY,
  event_id TEXT /* UUID */ NOT NULL UNIQUE
    REFERENCES new_events (id),
  seller_no INTEGER NOT NULL REFERENCES sellers (seller_no),
  trigger_name TEXT NOT NULL,
  webhook_id TEXT /* UUID */ NOT NULL,
  state TEXT NOT NULL,
  due_at INTEGER,
  lease_id TEXT,
  lease_until INTEGER,
  attempts INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  last_answer TEXT,
  created_at INTEGER NOT NULL,
  settled_at INTEGER
) STRICT;
INSERT INTO new_deliveries (id, event_id, seller_no, trigger_name, webhook_id,
    state, due_at, lease_id, lease_until, attempts, failures, last_answer,
    created_at, settled_at)
  SELECT d.id /* ::UUID */, event_id /* ::UUID */, seller_no, trigger_name,
    webhook_id /* ::UUID */, state, due_at, lease_id, lease_until, attempts,
    failures, last_answer, d.created_at, settled_at
  FROM deliveries d JOIN sellers ON sellers.id = seller_id
  ORDER BY d.id;

CREATE TABLE new_delivery_attempts (
  delivery_id TEXT /* UUID */ NOT NULL
    REFERENCES new_deliveries (id),
  number INTEGER NOT NULL,
  url TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  duration_ms INTEGER,
  status INTEGER,
  error TEXT,
  address TEXT,
  answer TEXT,
  PRIMARY KEY (delivery_id, number)
) STRICT;
INSERT INTO new_delivery_attempts (delivery_id, number, url, started_at,
    duration_ms, status, error, address, answer)
  SELECT delivery_id /* ::UUID */, number, url, started_at, duration_ms, status,
    error, address, answer
  FROM delivery_attempts
  ORDER BY delivery_id, number;

CREATE TABLE new_refusals (
  id TEXT NOT NULL PRIMARY KEY,
  seller_no INTEGER NOT NULL,
  at INTEGER NOT NULL,
  route TEXT,
  status INTEGER NOT NULL,
  code TEXT NOT NULL,
  message TEXT NOT NULL,
  size INTEGER,
  details TEXT NOT NULL,
  more INTEGER NOT NULL
) STRICT;
INSERT INTO new_refusals (id, seller_no, at, route, status, code, message, size,
    details, more)
  SELECT r.id, seller_no, at, route, r.status, code, message, size, details,
    more
  FROM refusals r JOIN sellers ON sellers.id = seller_id
  ORDER BY r.id;

DROP TABLE refused_products;
DROP TABLE refused_pieces;
DROP TABLE refused_documents;
DROP TABLE undo_records;
DROP TABLE idempotency_keys;
DROP TABLE transaction_images;
DROP TABLE transactions;
DROP TABLE delivery_attempts;
DROP TABLE deliveries;
DROP TABLE events;
DROP TABLE webhooks;
DROP TABLE refusals;

ALTER TABLE new_refusals RENAME TO refusals;
ALTER TABLE new_webhooks RENAME TO webhooks;
ALTER TABLE new_events RENAME TO events;
ALTER TABLE new_deliveries RENAME TO deliveries;
ALTER TABLE new_delivery_attempts RENAME TO delivery_attempts;
ALTER TABLE new_transactions RENAME TO transactions;
ALTER TABLE new_transaction_images RENAME TO transaction_images;
ALTER TABLE new_idempotency_keys RENAME TO idempotency_keys;
ALTER TABLE new_undo_records RENAME TO undo_records;
ALTER TABLE new_refused_documents RENAME TO refused_documents;
ALTER TABLE new_refused_pieces RENAME TO refused_pieces;
ALTER TABLE new_refused_products RENAME TO refused_products;

CREATE INDEX transactions_final ON transactions (finished_at)
  WHERE finished_at IS NOT NULL;
CREATE UNIQUE INDEX transactions_undoes ON transactions (seller_no, undoes)
  WHERE undoes IS NOT NULL;
CREATE INDEX transaction_images_waiting
  ON transaction_images (image_id, transaction_id, ordinal)
  WHERE status = 'pending';
CREATE INDEX transaction_images_image ON transaction_images (image_id);
CREATE INDEX undo_records_age ON undo_records (created_at);
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);
CREATE INDEX idempotency_keys_transaction
  ON idempotency_keys (seller_no, transaction_id);
CREATE INDEX webhooks_failing ON webhooks (failing_since)
  WHERE failing_since IS NOT NULL;
CREATE INDEX events_undelivered ON events (created_at)
  WHERE delivery_id IS NULL AND body IS NOT NULL;
CREATE INDEX events_references ON events (created_at) WHERE body IS NULL;
CREATE INDEX events_feed ON events (seller_no, event_no)
  WHERE event_no IS NOT NULL AND body IS NOT NULL;
CREATE INDEX events_feed_trigger ON events (seller_no, trigger_name, event_no)
  WHERE event_no IS NOT NULL AND body IS NOT NULL;
CREATE INDEX events_times ON events (seller_no, trigger_name, created_at, id)
  WHERE event_no IS NOT NULL AND body IS NOT NULL;
CREATE INDEX deliveries_queue ON deliveries (webhook_id, due_at, id)
  WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_leased ON deliveries (lease_until)
  WHERE lease_until IS NOT NULL;
CREATE INDEX deliveries_held ON deliveries (webhook_id)
  WHERE state = 'held';
CREATE INDEX deliveries_settled ON deliveries (state, settled_at)
  WHERE settled_at IS NOT NULL;
CREATE INDEX deliveries_seller ON deliveries (seller_no, trigger_name, id);
CREATE INDEX refusals_seller ON refusals (seller_no, id);

-- the place before all uploads
UPDATE image_answers
  SET transaction_id = '00000000-0000-0000-0000-000000000000'
  WHERE transaction_id = '';
`,
  },
  {
    name: "images: ids of 16 bytes",
    sql: "-- SQLite has no type for them",
    postgres: `
ALTER TABLE transaction_images
  DROP CONSTRAINT new_transaction_images_image_id_fkey;
ALTER TABLE image_answers DROP CONSTRAINT image_answers_image_id_fkey;
ALTER TABLE changed_images DROP CONSTRAINT changed_images_image_id_fkey;
ALTER TABLE images ALTER COLUMN id TYPE UUID USING id::uuid;
ALTER TABLE transaction_images
  ALTER COLUMN image_id TYPE UUID USING image_id::uuid,
  ADD FOREIGN KEY (image_id) REFERENCES images (id);
ALTER TABLE image_answers
  ALTER COLUMN image_id TYPE UUID USING image_id::uuid,
  ALTER COLUMN transaction_id TYPE UUID USING transaction_id::uuid,
  ADD FOREIGN KEY (image_id) REFERENCES images (id);
ALTER TABLE changed_images
  ALTER COLUMN image_id TYPE UUID USING image_id::uuid,
  ADD FOREIGN KEY (image_id) REFERENCES images (id);
ALTER TABLE image_askers
  ALTER COLUMN image_id TYPE UUID USING image_id::uuid;
ALTER TABLE product_images
  ALTER COLUMN image_id TYPE UUID USING image_id::uuid;
`,
  },
  {
    name: "numbers of sellers are given once",
    sql: `
CREATE TABLE seller_numbers (
  id INTEGER NOT NULL PRIMARY KEY,
  last INTEGER NOT NULL
) STRICT;
INSERT INTO seller_numbers (id, last) VALUES (1, 0);
`,
  },
  {
    name: "events get their numbers when their seller asks for them",
    sql: "-- An older program would not list those without a number.",
    postgres: "SELECT 1",
  },
];
