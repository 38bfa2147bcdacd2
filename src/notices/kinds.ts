/**
 * All kinds of notices to sellers and the operator, one entry each: the query
 * that finds them, the text, and the page to which the notice links.
 */
import { inReach, LIMIT, type Sql } from "../database/db.ts";
import { DAY_MS, HOUR_MS } from "../lib/durations.ts";
import type { Reason } from "../catalogue/review.ts";
import { type QuotaDefaults, quotaUnit } from "../sellers/limits.ts";
import {
  type QuotaColumns,
  quotaColumns,
  type QuotaUse,
  SELLERS_WITH_COUNTERS,
  toQuotaUses,
} from "../sellers/usage_rows.ts";
import { WANTS_MAIL } from "../sellers/each_seller.ts";
import type { Detail, Recipient } from "./notice.ts";

export interface Kind {
  name: string;
  recipient: Recipient;
  text: (detail: Detail) => string;
  /** The view of the page, as in `webhooks/order_created`. */
  view: (detail: Detail) => string;
  /** The text that replaces more than a few notices of this kind. */
  many?: { text: (count: string) => string; view: string };
}

/**
 * A condition or event of a seller that the seller or the operator should know.
 */
export interface FoundNotice {
  sellerNo: number;
  /** Distinguishes several notices of a kind for one seller. */
  about: string;
  detail: Detail;
  /** When an event happened. */
  at?: number;
  /**
   * Whether the condition only keeps a stored notice, and does not cause a new
   * notice.
   */
  isEnding?: boolean;
  /**
   * Whether the notice is stored without being sent, because another notice
   * says the same.
   */
  isSilent?: boolean;
}

/** A kind that a search finds in rows of sellers. */
export interface SearchedKind extends Kind {
  /** A state lasts; an event happened at a time. */
  nature: "state" | "event";
  find: (
    sql: Sql,
    input: SearchInput,
  ) => FoundNotice[] | Promise<FoundNotice[]>;
  /** Reads the rest of a new event's detail. */
  complete?: (sql: Sql, found: FoundNotice) => Promise<FoundNotice>;
}

export interface SearchInput {
  now: number;
  /** Earlier events are already known. */
  since: number;
  config: QuotaDefaults;
  /** Usage of sellers near a limit. */
  usages: readonly Usage[];
}

/** The most notices of one kind that a search finds. */
export const SEARCH_LIMIT = 2_000;

/** A webhook that has failed for this long is disabled a day later. */
const ENDING_MS = 4 * DAY_MS;

interface FailingWebhook {
  sellerNo: number;
  id: string;
  trigger: string;
  failingSince: number;
  lastError: string | null;
}

/** Webhooks that have failed since this time or an earlier one. */
async function webhooks(
  sql: Sql,
  condition: string,
  since: number,
  isSilent: (webhook: FailingWebhook) => boolean = () => false,
): Promise<FoundNotice[]> {
  const rows = await sql.all<FailingWebhook>(
    `SELECT webhooks.seller_no AS "sellerNo", webhooks.id,
       webhooks.trigger_name AS "trigger", webhooks.last_error AS "lastError",
       webhooks.failing_since AS "failingSince"
     FROM webhooks JOIN sellers ON sellers.seller_no = webhooks.seller_no
     WHERE webhooks.failing_since IS NOT NULL AND webhooks.failing_since <= ?
       AND ${condition} AND ${WANTS_MAIL} ${inReach("webhooks.seller_no")}
     ORDER BY webhooks.failing_since ${LIMIT}`,
    [since, SEARCH_LIMIT],
  );
  return rows.map((row) => {
    const { sellerNo, id, trigger, failingSince, lastError } = row;
    const detail = { trigger, since: failingSince, error: lastError };
    return { sellerNo, about: id, detail, isSilent: isSilent(row) };
  });
}

const webhookView = ({ trigger }: Detail) => `webhooks/${trigger}`;

/** Imports that ended in one of these states. */
async function imports(
  sql: Sql,
  { since }: SearchInput,
  states: string,
): Promise<FoundNotice[]> {
  const rows = await sql.all<
    & { sellerNo: number; id: string; at: number }
    & Record<string, number | string | null>
  >(
    `SELECT imports.seller_no AS "sellerNo", imports.id, over_at AS at,
       imports.name,
       imports.state, imports.dry_run AS "dryRun", imports.undoes,
       products_total AS total, products_created AS created,
       products_updated AS updated, products_refused AS refused,
       products_deleted AS deleted, problems
     FROM imports JOIN sellers ON sellers.seller_no = imports.seller_no
     WHERE imports.over_at IS NOT NULL AND imports.over_at >= ?
       AND imports.over_at >= sellers.email_since
       AND imports.state IN (${states})
       AND ${WANTS_MAIL} ${inReach("imports.seller_no")}
     ORDER BY imports.over_at ${LIMIT}`,
    [since, SEARCH_LIMIT],
  );
  return rows.map(({ sellerNo, at, ...detail }) => (
    { sellerNo, about: detail.id, detail, at }
  ));
}

/** The name of an import in a sentence, such as "The import stock.xml". */
function importName({ name, undoes, dryRun }: Detail): string {
  const what = undoes !== null
    ? "The undo of an import"
    : dryRun === 1
    ? "The dry run of the import"
    : "The import";
  return name === null ? what : `${what} ${name}`;
}

/** The notice about a key is sent this long before the key expires. */
const KEY_EXPIRES_MS = 7 * DAY_MS;

interface ExpiringKey {
  sellerNo: number;
  id: string;
  label: string | null;
  prefix: string | null;
  endsAt: number;
}

/**
 * Keys that expire soon. A key that expires within a day opens no notice: it
 * was probably rotated, and the seller knows of the rotation.
 */
async function expiringKeys(
  sql: Sql,
  { now }: SearchInput,
): Promise<FoundNotice[]> {
  const rows = await sql.all<ExpiringKey>(
    `SELECT own.seller_no AS "sellerNo", api_keys.id, label, prefix,
       expires_at AS "endsAt"
     FROM ${SELLERS_WITH_COUNTERS} JOIN api_keys ON api_keys.seller_no = own.seller_no
     WHERE expires_at IS NOT NULL AND expires_at > ? AND expires_at <= ?
       AND revoked_at IS NULL AND ${WANTS_MAIL} ${inReach("own.seller_no")}
     ORDER BY expires_at ${LIMIT}`,
    [now, now + KEY_EXPIRES_MS, SEARCH_LIMIT],
  );
  return rows.map(({ sellerNo, id, label, prefix, endsAt }) => ({
    sellerNo,
    about: id,
    detail: { label, prefix, ends: endsAt },
    isEnding: endsAt <= now + DAY_MS,
  }));
}

interface RejectedProduct {
  sellerNo: number;
  id: string;
  sku: string;
  at: number;
  review: string;
}

/** Products that reviewers rejected. */
async function rejected(
  sql: Sql,
  { since }: SearchInput,
): Promise<FoundNotice[]> {
  const rows = await sql.all<RejectedProduct>(
    `SELECT products.seller_no AS "sellerNo", products.id, products.sku,
       review_at AS at, products.review
     FROM products JOIN sellers ON sellers.seller_no = products.seller_no
     WHERE review_state IS NOT NULL AND review_state = 'rejected'
       AND review_at >= ? AND review_at >= sellers.email_since
       AND ${WANTS_MAIL} ${inReach("products.seller_no")}
     ORDER BY review_at ${LIMIT}`,
    [since, SEARCH_LIMIT],
  );
  return rows.map(({ sellerNo, id, sku, at, review }) => {
    const { message, code } = JSON.parse(review) as Reason;
    const detail = { id, sku, reason: message ?? code };
    return { sellerNo, about: `${id} ${at}`, detail, at };
  });
}

const importView = ({ id }: Detail) => `imports/${id}`;

interface FailedImages {
  sellerNo: number;
  id: string;
  /** The name of the import; null for an upload without a name. */
  name: string | null;
  failed: number;
  at: number;
}

/** Uploads whose images are all settled, some as failed. */
const FAILED_UPLOADS = `SELECT transactions.seller_no AS "sellerNo",
    transactions.id, NULL AS name, images_failed AS failed, finished_at AS at
  FROM transactions
    JOIN sellers ON sellers.seller_no = transactions.seller_no
  WHERE images_failed > 0 AND finished_at IS NOT NULL AND finished_at >= ?
    AND finished_at >= sellers.email_since AND import_id IS NULL
    AND ${WANTS_MAIL} ${inReach("transactions.seller_no")}`;
const FAILED_URLS_OF_UPLOAD =
  `SELECT images.url FROM transaction_images AS named
  JOIN images ON images.seller_no = named.seller_no AND images.id = image_id
  WHERE named.seller_no = ? AND named.transaction_id = ?
    AND named.status = 'failed' ORDER BY ordinal`;

/**
 * Like `FAILED_UPLOADS`, for imports, once the images of all their parts are
 * settled.
 */
const FAILED_IMPORTS =
  `SELECT import_images.seller_no AS "sellerNo", import_id AS id,
    imports.name, failed, settled_at AS at
  FROM import_images
    JOIN imports ON imports.seller_no = import_images.seller_no
      AND imports.id = import_id
    JOIN sellers ON sellers.seller_no = import_images.seller_no
  WHERE failed > 0 AND pending = 0 AND settled_at >= ?
    AND settled_at >= sellers.email_since AND over_at IS NOT NULL
    AND ${WANTS_MAIL} ${inReach("import_images.seller_no")}`;
const FAILED_URLS_OF_IMPORT = `SELECT images.url FROM import_parts AS part
  JOIN transaction_images AS named ON named.seller_no = part.seller_no
    AND named.transaction_id = part.transaction_id
  JOIN images ON images.seller_no = named.seller_no AND images.id = image_id
  WHERE part.seller_no = ? AND part.import_id = ?
    AND named.status = 'failed' ORDER BY part.part, ordinal`;

/** The most URLs that a notice names, and the most characters of each. */
const NAMED_IMAGES = 3;
const URL_LENGTH = 200;

async function failedImages(
  sql: Sql,
  { since }: SearchInput,
): Promise<FoundNotice[]> {
  const find = (select: string, order: string) =>
    sql.all<FailedImages>(`${select} ORDER BY ${order} ${LIMIT}`, [
      since,
      SEARCH_LIMIT,
    ]);
  const uploads = await find(FAILED_UPLOADS, "finished_at");
  const imports = await find(FAILED_IMPORTS, "settled_at");
  // One list in the order of time, because `SearchInput.since` continues from
  // its end.
  const rows = [
    ...uploads.map((row) => ({ ...row, view: "uploads" })),
    ...imports.map((row) => ({ ...row, view: "imports" })),
  ].toSorted((one, other) => one.at - other.at).slice(0, SEARCH_LIMIT);
  return rows.map(({ sellerNo, id, name, failed, at, view }) => ({
    sellerNo,
    about: id,
    detail: { id, view, name, failed },
    at,
  }));
}

async function withFailedUrls(
  sql: Sql,
  notice: FoundNotice,
): Promise<FoundNotice> {
  const { sellerNo, about, detail } = notice;
  const urls = detail.view === "uploads"
    ? FAILED_URLS_OF_UPLOAD
    : FAILED_URLS_OF_IMPORT;
  const named = await sql.all<{ url: string }>(`${urls} ${LIMIT}`, [
    sellerNo,
    about,
    NAMED_IMAGES,
  ]);
  const images = named.map(({ url }) => url.slice(0, URL_LENGTH)).join(", ");
  const left = Math.max(0, Number(detail.failed) - named.length);
  return { ...notice, detail: { ...detail, images, left } };
}

/** What a seller uses, and its own limits. */
export interface Usage extends QuotaColumns {
  sellerNo: number;
  id: string;
  name: string;
  wantsMail: number;
}

/** The usage of up to `limit` sellers whose numbers are above `after`. */
export function pageOfUsages(
  sql: Sql,
  after: number,
  limit: number,
): Promise<Usage[]> {
  return sql.all<Usage>(
    `SELECT own.seller_no AS "sellerNo", sellers.id, sellers.name,
       CASE WHEN ${WANTS_MAIL} THEN 1 ELSE 0 END AS "wantsMail",
       ${quotaColumns()}
     FROM ${SELLERS_WITH_COUNTERS} WHERE sellers.status <> 'removed' AND own.seller_no > ?
       ${inReach("own.seller_no")}
     ORDER BY own.seller_no ${LIMIT}`,
    [after, limit],
  );
}

/** Percent of a quota at which a notice is sent, ascending. */
const LEVELS = [80, 90, 100];
/** A notice ends when usage is more than this many percent below its level. */
const FADE_PERCENT = 5;

/** The uses of quotas above 0: a quota of 0 does not count as used up. */
function limitedUses(usage: Usage, config: SearchInput["config"]): QuotaUse[] {
  return toQuotaUses(usage, config).filter(({ limit }) => limit > 0);
}

/** The unit of a quota, such as "bytes for images". */
function unitOf(quota: Detail[string]): string {
  const unit = quotaUnit(quota);
  return unit === quota ? unit : `${unit} for ${quota}`;
}

const percentOf = ({ used, limit }: QuotaUse) => 100 * used / limit;

/** Whether the seller is near enough to a limit to have a notice about it. */
export function isNearLimit(
  usage: Usage,
  config: SearchInput["config"],
): boolean {
  return limitedUses(usage, config)
    .some((use) => percentOf(use) >= LEVELS[0] - FADE_PERCENT);
}

/**
 * A notice of each level that a quota has reached; only the notice of the
 * highest level is sent.
 */
function quotas({ usages, config }: SearchInput): FoundNotice[] {
  return usages.filter(({ wantsMail }) => wantsMail === 1).flatMap((usage) =>
    limitedUses(usage, config).flatMap((use) => {
      const percent = percentOf(use);
      const reached = LEVELS.filter((level) => percent >= level);
      return LEVELS.filter((level) => percent >= level - FADE_PERCENT)
        .map((level) => ({
          sellerNo: usage.sellerNo,
          about: `${use.quota} ${level}`,
          detail: { ...use, level },
          isEnding: !reached.includes(level),
          isSilent: level !== reached.at(-1),
        }));
    })
  );
}

function overQuota({ usages, config }: SearchInput): FoundNotice[] {
  return usages.flatMap((usage) =>
    limitedUses(usage, config).filter((use) =>
      percentOf(use) >= 100 - FADE_PERCENT
    )
      .map((use) => ({
        sellerNo: usage.sellerNo,
        about: use.quota,
        detail: { seller: usage.name, seller_id: usage.id, ...use },
        isEnding: percentOf(use) < 100,
      }))
  );
}

/** Sellers with a delivery that was exhausted in the last day. */
async function exhausted(
  sql: Sql,
  { now }: SearchInput,
): Promise<FoundNotice[]> {
  const rows = await sql.all<
    { sellerNo: number; id: string; name: string; n: number }
  >(
    `SELECT newest.seller_no AS "sellerNo", sellers.id, sellers.name,
       COUNT(*) AS n FROM
       (SELECT seller_no FROM deliveries
        WHERE state = 'exhausted' AND settled_at IS NOT NULL AND settled_at > ?
          ${inReach()}
        ORDER BY settled_at DESC ${LIMIT}) AS newest
       JOIN sellers ON sellers.seller_no = newest.seller_no
     WHERE sellers.status <> 'removed'
     GROUP BY newest.seller_no, sellers.id, sellers.name`,
    [now - DAY_MS, 10 * SEARCH_LIMIT],
  );
  return rows.map(({ sellerNo, id, name, n }) => ({
    sellerNo,
    about: "",
    detail: { seller: name, seller_id: id, deliveries: n },
  }));
}

const sellerView = ({ seller_id }: Detail) => `sellers/${seller_id}`;

/** Kinds that a search finds in rows. */
export const SEARCHED_KINDS: readonly SearchedKind[] = [
  {
    name: "webhook_failing",
    recipient: "seller",
    nature: "state",
    find: (sql, { now }) =>
      webhooks(
        sql,
        "webhooks.disabled_at IS NULL",
        now - HOUR_MS,
        ({ failingSince }) => failingSince <= now - ENDING_MS,
      ),
    text: ({ trigger, since, error }) =>
      `Your webhook for ${trigger} has failed since ${timeOf(since)}` +
      `${reasonOf(error)}. Its events are sent again later. If the webhook ` +
      "fails for five days, we stop calling it.",
    view: webhookView,
  },
  {
    name: "webhook_ending",
    recipient: "seller",
    nature: "state",
    find: (sql, { now }) =>
      webhooks(sql, "webhooks.disabled_at IS NULL", now - ENDING_MS),
    text: ({ trigger, since, error }) =>
      `Your webhook for ${trigger} has failed since ${timeOf(since)}` +
      `${
        reasonOf(error)
      }. If it does not work within a day, we stop calling it.`,
    view: webhookView,
  },
  {
    name: "webhook_disabled",
    recipient: "seller",
    nature: "state",
    find: (sql, { now }) =>
      webhooks(sql, "webhooks.disabled_at IS NOT NULL", now),
    text: ({ trigger, error }) =>
      `We no longer call your webhook for ${trigger}${reasonOf(error)}. Its ` +
      "events are kept; register the webhook again to receive them.",
    view: webhookView,
  },
  {
    name: "import_through",
    recipient: "seller",
    nature: "event",
    find: (sql, input) => imports(sql, input, "'completed'"),
    text: (detail) =>
      `${importName(detail)} has finished: ${
        countsOf(detail, ["created", "updated", "deleted", "refused"])
      } of ${detail.total} products.`,
    view: importView,
    many: {
      text: (count) => `${count} imports have finished.`,
      view: "imports",
    },
  },
  {
    name: "import_refused",
    recipient: "seller",
    nature: "event",
    find: (sql, input) => imports(sql, input, "'refused', 'failed'"),
    text: (detail) =>
      detail.state === "failed"
        ? `${importName(detail)} could not be processed completely.`
        : `${importName(detail)} was refused: nothing of it is stored. ` +
          `Mistakes that were found: ${detail.problems}.`,
    view: importView,
  },
  {
    name: "images_failed",
    recipient: "seller",
    nature: "event",
    find: failedImages,
    complete: withFailedUrls,
    text: ({ failed, view, name, images, left }) => {
      const of = view === "uploads"
        ? "an upload"
        : name === null
        ? "an import"
        : `the import ${name}`;
      const [count, are] = failed === 1
        ? ["1 image", "is"]
        : [`${failed} images`, "are"];
      const more = left === 0 ? "" : ` and ${left} more`;
      return `${count} of ${of} could not be fetched, and ${are} not tried ` +
        `again: ${images}${more}.`;
    },
    view: ({ view, id }) => `${view}/${id}`,
    many: {
      text: (count) =>
        `Images of ${count} uploads could not be fetched, and are ` +
        "not tried again.",
      view: "uploads",
    },
  },
  {
    name: "key_ending",
    recipient: "seller",
    nature: "state",
    find: expiringKeys,
    text: ({ label, prefix, ends }) =>
      `Your key ${label ?? ""}${label === null ? "" : " "}(it begins with ` +
      `${prefix}) expires at ${
        timeOf(ends)
      }. Rotation does not change that time. Before ` +
      "then, create a new key with a key that lasts longer, or ask us for one.",
    view: () => "keys",
  },
  {
    name: "product_rejected",
    recipient: "seller",
    nature: "event",
    find: rejected,
    text: ({ sku, reason }) =>
      `The product ${sku} was rejected${
        reasonOf(reason)
      }. Correct it, and it ` +
      "is reviewed again.",
    view: ({ id }) => `products/${id}`,
    many: {
      text: (count) =>
        `${count} products were rejected. Correct them, and they ` +
        "are reviewed again.",
      view: "products?review=rejected",
    },
  },
  {
    name: "quota",
    recipient: "seller",
    nature: "state",
    find: (_, input) => quotas(input),
    text: ({ quota, level, used, limit }) => {
      const what = `${used} of ${limit} ${unitOf(quota)}`;
      return level === 100
        ? `Your quota is used up: ${what}. Changes are stored, new ${quota} ` +
          "are not."
        : `${level} % of your quota is used: ${what}.`;
    },
    view: () => "products",
  },
  {
    name: "deliveries_exhausted",
    recipient: "operator",
    nature: "state",
    find: exhausted,
    text: ({ seller, deliveries }) =>
      `${deliveries} deliveries to ${seller} were given up: every ` +
      "attempt failed.",
    view: sellerView,
  },
  {
    name: "seller_over_quota",
    recipient: "operator",
    nature: "state",
    find: (_, input) => overQuota(input),
    text: ({ seller, quota, used, limit }) =>
      `${seller} has used up its quota of ${quota}: ${used} of ` +
      `${quotaUnit(quota) === quota ? limit : `${limit} ${quotaUnit(quota)}`}.`,
    view: sellerView,
  },
];

/** Kinds of events that a maintenance job counts. */
export const COUNTED_KINDS = {
  rules_beginning: {
    name: "rules_beginning",
    recipient: "seller",
    text: ({ from, products, names }) => {
      const [count, them] = products === 1
        ? ["1 of your products breaks", "it"]
        : [`${products} of your products break`, "them"];
      return `${count} a rule that begins on ${from}: ${names}. From then on, ` +
        "changes are refused, except those of price, quantity, availability " +
        `and status. Correct ${them} before that day.`;
    },
    view: () => "products",
  },
} as const satisfies Readonly<Record<string, Kind>>;

/** Kinds that a process observes. */
export const OBSERVED_KINDS = {
  not_ready: {
    name: "not_ready",
    recipient: "operator",
    text: ({ part, trouble }) =>
      `The service is not ready (${part}): ${trouble}.`,
    view: () => "overview",
  },
  backup_old: {
    name: "backup_old",
    recipient: "operator",
    text: ({ at }) =>
      `The last backup is older than a day: it was made at ${timeOf(at)}.`,
    view: () => "overview",
  },
  reviews_waiting: {
    name: "reviews_waiting",
    recipient: "operator",
    text: ({ seller, sku }) =>
      `Products wait for a review; the first is ${sku} of ${seller}.`,
    view: () => "reviews",
  },
  disk_low: {
    name: "disk_low",
    recipient: "operator",
    text: ({ folder, percent }) =>
      `Only ${percent} % of the disk of ${folder} is free.`,
    view: () => "overview",
  },
} as const satisfies Readonly<Record<string, Kind>>;

export type ObservedKind = keyof typeof OBSERVED_KINDS;

/** All kinds, by name. */
export const KINDS: ReadonlyMap<string, Kind> = new Map(
  [
    ...SEARCHED_KINDS,
    ...Object.values(COUNTED_KINDS),
    ...Object.values(OBSERVED_KINDS),
  ].map((kind) => [kind.name, kind]),
);

/** Formats a time as `2026-11-24 09:30 UTC`. */
function timeOf(at: string | number | null): string {
  const iso = new Date(Number(at)).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

function reasonOf(error: string | number | null): string {
  return error === null ? "" : ` (${error})`.replace(/\.\)$/, ")");
}

/**
 * Lists counts, as in `3 created, 1 refused`; `nothing changed` if there are
 * none.
 */
function countsOf(detail: Detail, names: readonly string[]): string {
  const counts = names.filter((name) => Number(detail[name]) > 0)
    .map((name) => `${detail[name]} ${name}`);
  return counts.length === 0 ? "nothing changed" : counts.join(", ");
}
