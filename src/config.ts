/**
 * Reads the settings. This is the only reader of `Deno.env`: environment
 * variables and flags become one frozen `Config`, or a complete list of
 * mistakes.
 */
import type { LogLevel } from "./deps.ts";
import { nearestName } from "./lib/nearest_name.ts";
import {
  IMAGE_PLACES,
  parseContact,
  parseDatabaseUrl,
  parseDays,
  parseEndpoint,
  parseHeaderValue,
  parseHostName,
  parseImagePlace,
  parseList,
  parseMailFrom,
  parseNetwork,
  parseNoticesUrl,
  parseOneOf,
  parsePath,
  parseRegionName,
  parseSigningSecret,
  parseSmtpUrl,
  parseWholeNumber,
  SettingError,
} from "./lib/setting_values.ts";
import { RATE_LIMIT_MAX } from "./lib/values.ts";

export const ROLES = ["api", "images", "webhooks"] as const;
export type Role = typeof ROLES[number];

const LOG_LEVELS: readonly LogLevel[] = ["error", "warn", "info", "debug"];

export interface Setting<T> {
  variable: string;
  /** The command line flag, if there is one. */
  flag?: string;
  /** The placeholder of the value in the help. */
  placeholder: string;
  /** The default; an empty value counts as missing. */
  fallback: string;
  meaning: string;
  /** A value that must not be printed. */
  secret?: boolean;
  /** Throws a `SettingError` with a valid form. */
  parse(text: string): T;
}

/** The share of the body budget that one seller may use. */
export const SELLER_BODY_SHARE = 1 / 4;
/**
 * How much of the budget a byte of a body costs. Two of the three are for the
 * decoded text: if it contains a wide character, each character takes two
 * bytes.
 */
export const BODY_COST = 3;

/** Every setting, in the order of the help and the handbook. */
const ALL = {
  host: {
    variable: "SELLER_HOST",
    flag: "host",
    placeholder: "ADDRESS",
    fallback: "127.0.0.1",
    meaning: "address to listen on",
    parse: parseHostName,
  },
  port: {
    variable: "SELLER_PORT",
    flag: "port",
    placeholder: "PORT",
    fallback: "8080",
    meaning: "port to listen on; 0 takes a free one",
    parse: (text) => parseWholeNumber(text, 0, 65_535),
  },
  dataDir: {
    variable: "SELLER_DATA_DIR",
    flag: "data",
    placeholder: "FOLDER",
    fallback: "./data",
    meaning: "folder with seller.db and images/",
    parse: parsePath,
  },
  databaseUrl: {
    variable: "SELLER_DATABASE_URL",
    placeholder: "URL",
    fallback: "",
    meaning: "postgres://USER:PASSWORD@HOST/DATABASE, instead of seller.db",
    secret: true,
    parse: parseDatabaseUrl,
  },
  databasePool: {
    variable: "SELLER_DATABASE_POOL",
    flag: "database-pool",
    placeholder: "N",
    fallback: "10",
    meaning: "connections of this process to PostgreSQL, at least 2",
    parse: (text) => parseWholeNumber(text, 2, 1_000),
  },
  databaseShards: {
    variable: "SELLER_SHARDS",
    flag: "shards",
    placeholder: "N",
    fallback: "32",
    meaning:
      "shards of a new database with Citus, which spreads sellers over " +
      "servers",
    parse: (text) => parseWholeNumber(text, 1, 10_000),
  },
  imageStore: {
    variable: "SELLER_IMAGE_STORE",
    flag: "image-store",
    placeholder: "PLACE",
    fallback: "",
    meaning: `place of the images: ${IMAGE_PLACES}`,
    parse: parseImagePlace,
  },
  s3Endpoint: {
    variable: "SELLER_S3_ENDPOINT",
    placeholder: "URL",
    fallback: "",
    meaning: "URL of the object storage; by default Amazon's in the region",
    parse: parseEndpoint,
  },
  s3Region: {
    variable: "SELLER_S3_REGION",
    placeholder: "REGION",
    fallback: "us-east-1",
    meaning: "region of the bucket",
    parse: parseRegionName,
  },
  s3AccessKey: {
    variable: "SELLER_S3_ACCESS_KEY",
    placeholder: "ID",
    fallback: "",
    meaning: "access key id for the bucket",
    secret: true,
    parse: parseHeaderValue,
  },
  s3SecretKey: {
    variable: "SELLER_S3_SECRET_KEY",
    placeholder: "KEY",
    fallback: "",
    meaning: "secret access key for the bucket",
    secret: true,
    parse: parseHeaderValue,
  },
  operatorKey: {
    variable: "SELLER_OPERATOR_KEY",
    placeholder: "KEY",
    fallback: "",
    meaning: "an operator key; the operator API answers 404 until this key " +
      "is set or operator-key add has created one",
    secret: true,
    parse: parseHeaderValue,
  },
  metricsKey: {
    variable: "SELLER_METRICS_KEY",
    placeholder: "KEY",
    fallback: "",
    meaning: "a key for /metrics; operator keys are accepted, too",
    secret: true,
    parse: parseHeaderValue,
  },
  metricsPort: {
    variable: "SELLER_METRICS_PORT",
    flag: "metrics-port",
    placeholder: "PORT",
    fallback: "",
    meaning: "port of 127.0.0.1 for /metrics, /healthz and /readyz",
    parse: (text) => text === "" ? null : parseWholeNumber(text, 0, 65_535),
  },
  allowPrivate: {
    variable: "SELLER_ALLOW_PRIVATE",
    flag: "allow-private",
    placeholder: "CIDR,…",
    fallback: "",
    meaning: "private networks that outbound requests may reach, such as " +
      "10.0.0.0/8, separated by commas",
    parse: (text): readonly string[] => parseList(text).map(parseNetwork),
  },
  rateLimit: {
    variable: "SELLER_RATE_LIMIT",
    flag: "rate-limit",
    placeholder: "N",
    fallback: "1200",
    meaning: "requests a minute for each seller; 0: no limit",
    parse: (text) => parseWholeNumber(text, 0, RATE_LIMIT_MAX),
  },
  trustProxy: {
    variable: "SELLER_TRUST_PROXY",
    flag: "trust-proxy",
    placeholder: "N",
    fallback: "",
    meaning:
      "trusted proxies in front that append to X-Forwarded-For, at most 8",
    parse: (text) => text === "" ? 0 : parseWholeNumber(text, 0, 8),
  },
  sourceAddresses: {
    variable: "SELLER_SOURCE_ADDRESSES",
    placeholder: "CIDR,…",
    fallback: "",
    meaning:
      "networks of the service's outgoing requests, which sellers see in " +
      "their account",
    parse: (text): readonly string[] => parseList(text).map(parseNetwork),
  },
  bodyLimit: {
    variable: "SELLER_BODY_LIMIT",
    flag: "body-limit",
    placeholder: "BYTES",
    fallback: "16777216",
    meaning: "most bytes of a request body, after decompression",
    parse: (text) => parseWholeNumber(text, 1, 1_073_741_824),
  },
  importLimit: {
    variable: "SELLER_IMPORT_LIMIT",
    flag: "import-limit",
    placeholder: "BYTES",
    fallback: "67108864",
    meaning: "most bytes of an import's document, after decompression",
    parse: (text) => parseWholeNumber(text, 1, 1_073_741_824),
  },
  bodyBudget: {
    variable: "SELLER_BODY_BUDGET",
    flag: "body-budget",
    placeholder: "BYTES",
    fallback: "268435456",
    meaning: "bytes of bodies and documents in progress, a quarter for " +
      "each seller; less than twelve times the body limit causes a warning",
    parse: (text) => parseWholeNumber(text, 1, 1_099_511_627_776),
  },
  imageLimit: {
    variable: "SELLER_IMAGE_LIMIT",
    flag: "image-limit",
    placeholder: "BYTES",
    fallback: "16777216",
    meaning: "most bytes of an image",
    parse: (text) => parseWholeNumber(text, 1, 1_073_741_824),
  },
  productLimit: {
    variable: "SELLER_PRODUCT_LIMIT",
    flag: "product-limit",
    placeholder: "N",
    fallback: "1000000",
    meaning: "most products of a seller; 0 allows no new ones",
    parse: (text) => parseWholeNumber(text, 0, 1_000_000_000),
  },
  imageQuota: {
    variable: "SELLER_IMAGE_QUOTA",
    flag: "image-quota",
    placeholder: "BYTES",
    fallback: "10737418240",
    meaning: "most bytes of stored images of a seller; 0 allows none",
    parse: (text) => parseWholeNumber(text, 0, 999_999_999_999_999),
  },
  keepUploadsDays: {
    variable: "SELLER_KEEP_UPLOADS_DAYS",
    placeholder: "DAYS",
    fallback: "90",
    meaning:
      "how long finished uploads and their results are kept; 0: for ever",
    parse: parseDays,
  },
  undoDays: {
    variable: "SELLER_UNDO_DAYS",
    placeholder: "DAYS",
    fallback: "30",
    meaning: "how long an upload can be undone; 0: never",
    parse: parseDays,
  },
  keepEventsDays: {
    variable: "SELLER_KEEP_EVENTS_DAYS",
    placeholder: "DAYS",
    fallback: "30",
    meaning: "how long events and their deliveries are kept, those not " +
      "delivered three times as long; 0: for ever",
    parse: parseDays,
  },
  keepReferencesDays: {
    variable: "SELLER_KEEP_REFERENCES_DAYS",
    placeholder: "DAYS",
    fallback: "400",
    meaning: "how long a repeated reference is recognized; 0: for ever",
    parse: parseDays,
  },
  keepPricesDays: {
    variable: "SELLER_KEEP_PRICES_DAYS",
    placeholder: "DAYS",
    fallback: "90",
    meaning: "how long price changes are kept; 0: for ever",
    parse: parseDays,
  },
  keepImagesDays: {
    variable: "SELLER_KEEP_IMAGES_DAYS",
    placeholder: "DAYS",
    fallback: "0",
    meaning: "how long an image that no product shows is kept; 0: until " +
      "images prune --delete removes it",
    parse: parseDays,
  },
  publicUrl: {
    variable: "SELLER_PUBLIC_URL",
    placeholder: "URL",
    fallback: "",
    meaning:
      "URL of the service, for links in notices and for uploaded images; " +
      "by default the address on which this process listens",
    parse: parseEndpoint,
  },
  noticesUrl: {
    variable: "SELLER_NOTICES_URL",
    placeholder: "URL",
    fallback: "",
    meaning: "URL that receives notices to the operator",
    // The value may contain a key.
    secret: true,
    parse: parseNoticesUrl,
  },
  noticesSecret: {
    variable: "SELLER_NOTICES_SECRET",
    placeholder: "SECRET",
    fallback: "",
    meaning: "secret that signs these notices: whsec_ and the Base64 of 24 " +
      "to 64 random bytes",
    secret: true,
    parse: parseSigningSecret,
  },
  smtpUrl: {
    variable: "SELLER_SMTP_URL",
    placeholder: "URL",
    fallback: "",
    meaning: "smtp://USER:PASSWORD@HOST:PORT or smtps://…: the mail server " +
      "for mail to sellers",
    secret: true,
    parse: parseSmtpUrl,
  },
  mailFrom: {
    variable: "SELLER_MAIL_FROM",
    placeholder: "ADDRESS",
    fallback: "",
    meaning: "sender of mail to sellers: an address, or NAME <ADDRESS>",
    parse: parseMailFrom,
  },
  securityContact: {
    variable: "SELLER_SECURITY_CONTACT",
    placeholder: "URL",
    fallback: "",
    meaning: "where to report vulnerabilities: mailto: or https:, served " +
      "as /.well-known/security.txt",
    parse: parseContact,
  },
  roles: {
    variable: "SELLER_ROLES",
    flag: "roles",
    placeholder: "ROLE,…",
    fallback: ROLES.join(","),
    meaning: `roles of this process: ${ROLES.join(", ")}`,
    parse: rolesSetting,
  },
  logLevel: {
    variable: "SELLER_LOG",
    flag: "log",
    placeholder: "LEVEL",
    fallback: "info",
    meaning: `least level of logged lines: ${LOG_LEVELS.join(", ")}`,
    parse: (text) => parseOneOf(text, LOG_LEVELS),
  },
} satisfies Record<string, Setting<unknown>>;

/** The value of each setting, as `parse` returns it. */
export type Config = {
  readonly [K in keyof typeof ALL]: ReturnType<typeof ALL[K]["parse"]>;
};

export const SETTINGS: { readonly [K in keyof Config]: Setting<Config[K]> } =
  ALL;

export interface ConfigResult {
  /** null if there are mistakes. */
  config: Config | null;
  /** One sentence each, starting with the variable or flag. */
  mistakes: string[];
}

/**
 * Reads all settings. A flag, keyed by its name without dashes, overrides its
 * variable.
 */
export function readConfig(
  flags: Readonly<Record<string, string | undefined>> = {},
  env: Readonly<Record<string, string>> = Deno.env.toObject(),
): ConfigResult {
  const mistakes = unknownVariables(env);
  const values: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries(SETTINGS)) {
    const flag = setting.flag === undefined ? undefined : flags[setting.flag];
    const name = flag === undefined ? setting.variable : `--${setting.flag}`;
    try {
      const text = flag ?? env[setting.variable] ?? "";
      values[key] = setting.parse(text.trim() || setting.fallback);
    } catch (error) {
      if (!(error instanceof SettingError)) throw error;
      mistakes.push(`${name}: ${error.message}`);
    }
  }
  // bounded: one for each key
  mistakes.push(...missingKeys(values));
  if (mistakes.length > 0) return { config: null, mistakes };
  return { config: Object.freeze(values) as unknown as Config, mistakes };
}

/** Every setting by its variable; for a secret, only whether it is set. */
export function shownSettings(config: Config): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(SETTINGS).map(([key, { variable, secret }]) => {
      const value = config[key as keyof Config];
      return [variable, secret ? value === null ? null : "set" : value];
    }),
  );
}

const PREFIX = "SELLER_";

/** A misspelt variable would silently leave its setting unchanged. */
function unknownVariables(env: Readonly<Record<string, string>>): string[] {
  const known = Object.values(SETTINGS).map(({ variable }) => variable);
  return Object.keys(env).sort()
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .map((name) =>
      `${name}: no such setting; did you mean ${nearestName(name, known)}?`
    );
}

function missingKeys(values: Record<string, unknown>): string[] {
  const { imageStore, ...rest } = values as Partial<Config>;
  const missing = NEEDED.filter(([key, other]) =>
    values[key] === null && (values[other] ?? null) !== null
  ).map(([key, other]) =>
    `${SETTINGS[key].variable}: it is needed for ${SETTINGS[other].variable}.`
  );
  if (imageStore?.kind !== "s3") return missing;
  const purpose = `the images in s3://${imageStore.bucket}`;
  return [...missing, ...missingS3Keys(rest, purpose)];
}

/** Pairs of settings that need each other. */
const NEEDED: readonly (readonly [keyof Config, keyof Config])[] = [
  ["noticesSecret", "noticesUrl"],
  ["mailFrom", "smtpUrl"],
  ["smtpUrl", "mailFrom"],
];

/**
 * Object storage needs a key: one sentence for each missing part of the key.
 */
export function missingS3Keys(
  config: Partial<Config>,
  purpose: string,
): string[] {
  return (["s3AccessKey", "s3SecretKey"] as const)
    .filter((key) => config[key] === null)
    .map((key) => `${SETTINGS[key].variable}: it is needed for ${purpose}.`);
}

/** Bytes; with a smaller body budget, the largest allowed body is always refused. */
export function leastBodyBudget({ bodyLimit }: Config): number {
  return bodyLimit * BODY_COST / SELLER_BODY_SHARE;
}

function rolesSetting(text: string): readonly Role[] {
  const wanted = parseList(text).map((role) => parseOneOf(role, ROLES));
  if (wanted.length > 0) return ROLES.filter((role) => wanted.includes(role));
  throw new SettingError(`at least one of ${ROLES.join(", ")} is needed.`);
}
