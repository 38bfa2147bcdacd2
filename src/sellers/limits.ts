/**
 * The limits that an operator may set for one seller, one entry each. A new
 * limit is a row here, its column of `sellers` in `database/schema.ts` with its
 * migration (`migrations.ts`), and its use. The operator's attribute, the
 * statements, the answers and their schemas, the commands, the handbook and the
 * page follow from it; for a quota, the notices too.
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
   * Bytes of documents of imports, and of the refused products that are kept of
   * them.
   */
  | "import_bytes";

export interface SellerLimit {
  /** What the limit counts. */
  unit: string;
  /** The highest value; no maximum by default. */
  max?: number;
  /** Its description in answers, after the unit. */
  about: string;
  /** Its description in the handbook. */
  meaning: string;
  /** Its name on the page. */
  label: string;
  /** The value in examples of answers; null: the default. */
  example: number | null;
  /** What an empty value is called on the page; by default "default". */
  unset?: string;
}

/** A limit of what is stored. */
export interface SellerQuota extends SellerLimit {
  /** The setting that is its default. */
  setting: string;
  /** What the quota counts: the unit, or what its bytes belong to. */
  of: string;
  /** The resources that count against it. */
  resources: readonly Resource[];
}

/** The limits of what is stored, by their columns. */
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

/** All limits, by their columns. */
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
    about: "percent by which a price may change in one step; empty: any",
    meaning: "percent by which [a price may change in one step]" +
      "(prices.md#a-price-that-is-far-off); `0` allows no change without " +
      "`expected`, an empty value any",
    label: "Largest change of a price, in percent",
    example: null,
    unset: "any",
  },
} as const satisfies Record<string, SellerLimit>;

export type LimitName = keyof typeof SELLER_LIMITS;
export type QuotaName = keyof typeof SELLER_QUOTAS;

export const LIMIT_NAMES = Object.keys(SELLER_LIMITS) as LimitName[];
export const QUOTA_NAMES = Object.keys(SELLER_QUOTAS) as QuotaName[];

/** The unit of a quota, by its `of`; "" for anything else. */
export function quotaUnit(of: unknown): string {
  const quotas: readonly SellerQuota[] = Object.values(SELLER_QUOTAS);
  return quotas.find((quota) => quota.of === of)?.unit ?? "";
}

/** The settings that are defaults of quotas: a part of `Config`. */
export type QuotaDefaults = Readonly<
  Record<typeof SELLER_QUOTAS[QuotaName]["setting"], number>
>;

/** A seller's own limits; null: the default setting, or no limit. */
export type SellerLimits = Readonly<Record<LimitName, number | null>>;

/** The limits in a row, without its other columns. */
export function limitsOf(row: SellerLimits): Record<LimitName, number | null> {
  const limits = LIMIT_NAMES.map((name) => [name, row[name]]);
  return Object.fromEntries(limits);
}
