/** Checks that counters equal counts of the rows. */
import { SCHEMA } from "../../../src/database/schema.ts";
import type { Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import { attemptsNeeded } from "./hosts.ts";
import type { Seller } from "./seller.ts";

/** Queries for rows that disagree with a count. */
const DISAGREEMENTS = {
  // Images that were already stored at the time of the upload have no row.
  "the images of an upload": `
    SELECT t.id, t.images_pending, t.images_stored, t.images_failed,
      COALESCE(SUM(i.refs) FILTER (WHERE i.status = 'pending'), 0) AS pending,
      COALESCE(SUM(i.refs) FILTER (WHERE i.status = 'stored'), 0) AS stored,
      COALESCE(SUM(i.refs) FILTER (WHERE i.status = 'failed'), 0) AS failed
    FROM transactions t
    LEFT JOIN transaction_images i ON i.transaction_id = t.id
    GROUP BY t.id HAVING pending <> images_pending OR stored <> images_stored
      OR failed <> images_failed`,
  "the end of an upload": `
    SELECT id, images_pending, finished_at FROM transactions
    WHERE (images_pending = 0) <> (finished_at IS NOT NULL)`,
  "the products of a seller": `
    SELECT s.id, (SELECT COUNT(*) FROM products p
                  WHERE p.seller_no = s.seller_no) AS n,
      (SELECT COALESCE(SUM(used), 0) FROM seller_usage u
       WHERE u.seller_no = s.seller_no AND resource = 'products') AS used
    FROM sellers s WHERE n <> used`,
  "the bytes of a seller's images": `
    SELECT s.id, (SELECT COALESCE(SUM(bytes), 0) FROM images
                  WHERE images.seller_no = s.seller_no) AS n,
      (SELECT COALESCE(SUM(used), 0) FROM seller_usage u
       WHERE u.seller_no = s.seller_no AND resource = 'image_bytes') AS used
    FROM sellers s WHERE n > used OR (n <> used AND status <> 'removed')`,
  "what an image is needed for": `
    SELECT image_id FROM transaction_images t
    WHERE status = 'pending' AND NOT EXISTS
      (SELECT 1 FROM images i WHERE i.seller_no = t.seller_no
       AND i.id = t.image_id AND state = 'pending')`,
} as const;

/** Checks the counts in a database, or in a copy of it. */
export function checkCounts(rows: (sql: string) => unknown[]): void {
  for (const [what, sql] of Object.entries(DISAGREEMENTS)) {
    const found = rows(sql);
    hold(found.length === 0, "true", `${what}: counted as they are`, found);
  }
}

export function checkCounters(
  scene: Scene,
  sellers: readonly Seller[],
): void {
  const { stage } = scene;
  checkCounts((sql) => stage.rows(sql));
  checkAttempts(scene);
  const beyond = stage.rows(
    `SELECT s.name, COUNT(*) AS n FROM products p
     JOIN sellers s ON s.seller_no = p.seller_no GROUP BY s.seller_no
     HAVING n > COALESCE(s.product_limit, ?)`,
    scene.world.settings.productLimit,
  );
  hold(beyond.length === 0, "true", "nobody has more than its limit", beyond);
  checkRemoved(scene);
  for (const seller of sellers) {
    if (seller.removed) checkForgotten(scene, seller);
  }
  checkParts(scene);
  const broken = stage.rows("PRAGMA foreign_key_check");
  hold(broken.length === 0, "true", "no row refers to nothing", broken);
}

/** The tables in which rows of a removed seller stay. */
const STAYS: readonly string[] = [
  "deleted_products",
  "deleted_contacts",
  "audit_log",
];

/** No other table has rows of a removed seller. */
function checkRemoved({ stage }: Scene): void {
  const tables = stage.rows<{ name: string }>(
    `SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) c
     WHERE m.type = 'table' AND c.name = 'seller_no'`,
  ).filter(({ name }) => !STAYS.includes(name));
  const left = tables.flatMap(({ name }) =>
    stage.rows(
      `SELECT '${name}' AS "table", seller_no, COUNT(*) AS n FROM ${name}
       WHERE seller_no > 0
         AND seller_no NOT IN (SELECT seller_no FROM sellers)
       GROUP BY seller_no`,
    )
  );
  hold(left.length === 0, "true", "nothing is left of a seller", left);
}

/** No row contains its internal id or one of its secrets. */
function checkForgotten({ stage }: Scene, seller: Seller): void {
  const known = [seller.id, ...seller.secrets];
  for (const { name } of SCHEMA) {
    if (STAYS.includes(name)) continue;
    const left = stage.rows(`SELECT * FROM ${name}`)
      .filter((row) => known.some((one) => JSON.stringify(row).includes(one)));
    hold(left.length === 0, "true", `${name} knows no removed seller`, left);
  }
}

/** Dependent rows are deleted no later than the rows to which they belong. */
function checkParts({ stage }: Scene): void {
  for (const { name, deletedWith = {} } of SCHEMA) {
    for (const [owner, column] of Object.entries(deletedWith)) {
      const left = stage.rows(
        `SELECT * FROM ${name} one WHERE ${column} IS NOT NULL AND NOT EXISTS (
           SELECT 1 FROM ${owner} o
           WHERE o.seller_no = one.seller_no AND o.id = one.${column})`,
      );
      hold(left.length === 0, "true", `${name} goes with ${owner}`, left);
    }
  }
}

/** Failures of the service cost no image an attempt. */
function checkAttempts({ stage, trouble }: Scene): void {
  if (trouble.since("network", 0)) return;
  const charged = stage.rows<{ url: string; attempts: number }>(
    `SELECT i.url, t.attempts, t.status FROM transaction_images t
     JOIN images i ON i.seller_no = t.seller_no AND i.id = t.image_id
     WHERE t.attempts > 1`,
  ).filter(({ url, attempts }) => attempts > attemptsNeeded(url));
  hold(charged.length === 0, "true", "no fault of ours is charged", charged);
}
