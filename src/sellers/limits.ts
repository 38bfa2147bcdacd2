/**
 * The limits that an operator may set for one seller. A new limit needs an entry
 * here, a column of `sellers` in `database/schema.ts` with a migration
 * (`migrations.ts`), and the code that applies the limit. The entry alone adds
 * the limit to the operator's attributes, the SQL statements, the answers and
 * their schemas, the commands, the handbook and the page; and a quota to the
 * notices.
 */
import { RATE_LIMIT_MAX } from "../lib/values.ts";

/** The highest `price_jump`, in percent. */
const PRICE_JUMP_MAX = 1_000_000;

/** A resource that counts against a quota. */
export type Resource =
  /** Stored products. */
  | "products"
  /** Bytes of the stored copies of the seller's images. */
  | "image_bytes"
  /**
   * Bytes of import documents, and of the refused products that remain of a
   * document when its import has ended.
   */
  | "import_bytes";

export interface SellerLimit {
  /** The unit of the value. */
  unit: string;
  /** The highest value that an operator may set; by default any. */
  max?: number;
  /** The limit's description in answers. */
  about: string;
  /** The limit's description in the handbook. */
  meaning: string;
  /** The limit's name on the page. */
  label: string;
  /** The value in examples of answers; null: an empty value. */
  example: number | null;
  /** What the page shows for an empty value; "default" if left out. */
  unset?: string;
}

/** A limit of stored products or bytes. */
export interface SellerQuota extends SellerLimit {
  /** The setting that has the default of the quota. */
  setting: string;
  /** What the quota limits, as notices and the page name it. */
  of: string;
  /** The resources that count against the quota. */
  resources: readonly Resource[];
}

/** The quotas, by column of `sellers`. */
export const SELLER_QUOTAS = {
  product_limit: {
    unit: "products",
    about: "empty: the default",
    meaning: "stored products; `0` allows none",
    label: "Products",
    example: 5000,
    setting: "productLimit",
    of: "products",
    resources: ["products"],
  },
  image_quota: {
    unit: "bytes",
    about: "bytes; empty: the default",
    meaning: "bytes of stored images; `0` allows none",
    label: "Bytes of images",
    example: null,
    setting: "imageQuota",
    of: "images",
    resources: ["image_bytes", "import_bytes"],
  },
} as const satisfies Record<string, SellerQuota>;

/** All limits, by column of `sellers`. */
export const SELLER_LIMITS = {
  rate_limit: {
    unit: "requests a minute",
    max: RATE_LIMIT_MAX,
    about: "requests a minute; empty: the default",
    meaning: "requests a minute, a tenth of them at once; `0` is unlimited",
    label: "Requests a minute",
    example: null,
  },
  ...SELLER_QUOTAS,
  price_jump: {
    unit: "percent",
    max: PRICE_JUMP_MAX,
    about: "percent by which a price may change in one step; empty: no limit",
    meaning: "percent by which [a price may change in one step]" +
      "(prices.md#a-price-that-is-far-off); `0` refuses every change without " +
      "`expected`; empty: no limit",
    label: "Largest change of a price, in percent",
    example: null,
    unset: "no limit",
  },
} as const satisfies Record<string, SellerLimit>;

export type LimitName = keyof typeof SELLER_LIMITS;
export type QuotaName = keyof typeof SELLER_QUOTAS;

export const LIMIT_NAMES = Object.keys(SELLER_LIMITS) as LimitName[];
export const QUOTA_NAMES = Object.keys(SELLER_QUOTAS) as QuotaName[];

/** The unit of the quota whose `of` this is; empty for any other value. */
export function quotaUnit(of: unknown): string {
  const quotas: readonly SellerQuota[] = Object.values(SELLER_QUOTAS);
  return quotas.find((quota) => quota.of === of)?.unit ?? "";
}

/** The settings in `Config` that have the defaults of quotas. */
export type QuotaDefaults = Readonly<
  Record<typeof SELLER_QUOTAS[QuotaName]["setting"], number>
>;

/** The limits of one seller; null: the default setting, or no limit. */
export type SellerLimits = Readonly<Record<LimitName, number | null>>;

/** The limits in a row, without its other columns. */
export function limitsOf(row: SellerLimits): Record<LimitName, number | null> {
  const limits = LIMIT_NAMES.map((name) => [name, row[name]]);
  return Object.fromEntries(limits);
}
