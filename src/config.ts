/**
 * Reads the settings. This is the only reader of `Deno.env`: environment
 * variables and flags become one frozen `Config`, or a complete list of
 * mistakes.
 */
import { isIP } from "node:net";
import { resolve } from "node:path";
import type { LogLevel } from "./deps.ts";
import { parseCidr } from "./lib/cidr.ts";
import { isEmail, type MailFrom, type MailServer } from "./lib/email.ts";
import { nearestName } from "./lib/nearest_name.ts";
import { serverUrls } from "./lib/server_urls.ts";
import { withoutTrailing } from "./lib/trim.ts";
import { parseSellerUrl } from "./lib/url.ts";

export const ROLES = ["api", "images", "webhooks"] as const;
export type Role = typeof ROLES[number];

const LOG_LEVELS: readonly LogLevel[] = ["error", "warn", "info", "debug"];

export type ImagePlace =
  /** An absolute path. */
  | { kind: "folder"; folder: string }
  /** `prefix` has no slash at its ends; "" for none. */
  | { kind: "s3"; bucket: string; prefix: string };

export interface Setting<T> {
  variable: string;
  /** The command line flag, if there is one. */
  flag?: string;
  /** What stands for the value in the help. */
  placeholder: string;
  /** The default; an empty value counts as missing. */
  fallback: string;
  meaning: string;
  /** A value that must not be printed. */
  secret?: boolean;
  /** Throws a `SettingError` with a valid form. */
  parse(text: string): T;
}

/** The highest rate limit, in requests a minute and seller. */
export const RATE_LIMIT_MAX = 1_000_000;
/** The part of the body budget that one seller may take. */
export const SELLER_BODY_SHARE = 1 / 4;
/**
 * What a byte of a body takes of it: two are for what is read from it, as a
 * text with one wide character has two bytes for each.
 */
export const BODY_COST = 3;

/** A value that a setting cannot take. */
class SettingError extends Error {}

/** Every setting, in the order of the help and the handbook. */
const ALL = {
  host: {
    variable: "SELLER_HOST",
    flag: "host",
    placeholder: "ADDRESS",
    fallback: "127.0.0.1",
    meaning: "address to listen on",
    parse: hostName,
  },
  port: {
    variable: "SELLER_PORT",
    flag: "port",
    placeholder: "PORT",
    fallback: "8080",
    meaning: "port to listen on; 0 takes a free one",
    parse: (text) => wholeNumber(text, 0, 65_535),
  },
  dataDir: {
    variable: "SELLER_DATA_DIR",
    flag: "data",
    placeholder: "FOLDER",
    fallback: "./data",
    meaning: "folder of seller.db and images/",
    parse: path,
  },
  databaseUrl: {
    variable: "SELLER_DATABASE_URL",
    placeholder: "URL",
    fallback: "",
    meaning: "postgres://USER:PASSWORD@HOST/DATABASE, in place of seller.db",
    secret: true,
    parse: databaseUrl,
  },
  databasePool: {
    variable: "SELLER_DATABASE_POOL",
    flag: "database-pool",
    placeholder: "N",
    fallback: "10",
    meaning: "connections of this process to PostgreSQL, from 2",
    parse: (text) => wholeNumber(text, 2, 1_000),
  },
  databaseShards: {
    variable: "SELLER_SHARDS",
    flag: "shards",
    placeholder: "N",
    fallback: "32",
    meaning:
      "shards of a new database whose sellers Citus spreads over servers",
    parse: (text) => wholeNumber(text, 1, 10_000),
  },
  imageStore: {
    variable: "SELLER_IMAGE_STORE",
    flag: "image-store",
    placeholder: "PLACE",
    fallback: "",
    meaning: "folder of the images, or s3://BUCKET/PREFIX",
    parse: imagePlace,
  },
  s3Endpoint: {
    variable: "SELLER_S3_ENDPOINT",
    placeholder: "URL",
    fallback: "",
    meaning: "URL of the object storage; by default Amazon's of the region",
    parse: endpoint,
  },
  s3Region: {
    variable: "SELLER_S3_REGION",
    placeholder: "REGION",
    fallback: "us-east-1",
    meaning: "region of the bucket",
    parse: regionName,
  },
  s3AccessKey: {
    variable: "SELLER_S3_ACCESS_KEY",
    placeholder: "ID",
    fallback: "",
    meaning: "id of the key for the bucket",
    secret: true,
    parse: headerValue,
  },
  s3SecretKey: {
    variable: "SELLER_S3_SECRET_KEY",
    placeholder: "KEY",
    fallback: "",
    meaning: "the key for the bucket",
    secret: true,
    parse: headerValue,
  },
  operatorKey: {
    variable: "SELLER_OPERATOR_KEY",
    placeholder: "KEY",
    fallback: "",
    meaning:
      "an operator key; without any, named ones included, the operator API answers 404",
    secret: true,
    parse: headerValue,
  },
  metricsKey: {
    variable: "SELLER_METRICS_KEY",
    placeholder: "KEY",
    fallback: "",
    meaning: "a key for /metrics; operator keys are accepted, too",
    secret: true,
    parse: headerValue,
  },
  metricsPort: {
    variable: "SELLER_METRICS_PORT",
    flag: "metrics-port",
    placeholder: "PORT",
    fallback: "",
    meaning: "port of 127.0.0.1 for /metrics, /healthz and /readyz",
    parse: (text) => text === "" ? null : wholeNumber(text, 0, 65_535),
  },
  allowPrivate: {
    variable: "SELLER_ALLOW_PRIVATE",
    flag: "allow-private",
    placeholder: "CIDR,…",
    fallback: "",
    meaning:
      "private networks that outbound requests may reach, such as 10.0.0.0/8, separated by commas",
    parse: (text): readonly string[] => list(text).map(cidr),
  },
  rateLimit: {
    variable: "SELLER_RATE_LIMIT",
    flag: "rate-limit",
    placeholder: "N",
    fallback: "1200",
    meaning: "requests a minute and seller; 0 is off",
    parse: (text) => wholeNumber(text, 0, RATE_LIMIT_MAX),
  },
  trustProxy: {
    variable: "SELLER_TRUST_PROXY",
    flag: "trust-proxy",
    placeholder: "N",
    fallback: "",
    meaning: "proxies in front that append to X-Forwarded-For, at most 8",
    parse: (text) => text === "" ? 0 : wholeNumber(text, 0, 8),
  },
  sourceAddresses: {
    variable: "SELLER_SOURCE_ADDRESSES",
    placeholder: "CIDR,…",
    fallback: "",
    meaning:
      "networks of the service's outgoing requests, shown in sellers' accounts",
    parse: (text): readonly string[] => list(text).map(cidr),
  },
  bodyLimit: {
    variable: "SELLER_BODY_LIMIT",
    flag: "body-limit",
    placeholder: "BYTES",
    fallback: "16777216",
    meaning: "bytes of a request body, after inflating",
    parse: (text) => wholeNumber(text, 1, 1_073_741_824),
  },
  importLimit: {
    variable: "SELLER_IMPORT_LIMIT",
    flag: "import-limit",
    placeholder: "BYTES",
    fallback: "67108864",
    meaning: "bytes of the document of an import, after inflating",
    parse: (text) => wholeNumber(text, 1, 1_073_741_824),
  },
  bodyBudget: {
    variable: "SELLER_BODY_BUDGET",
    flag: "body-budget",
    placeholder: "BYTES",
    fallback: "268435456",
    meaning:
      "bytes of bodies and documents in progress, a quarter a seller; at least twelve times the body limit",
    parse: (text) => wholeNumber(text, 1, 1_099_511_627_776),
  },
  imageLimit: {
    variable: "SELLER_IMAGE_LIMIT",
    flag: "image-limit",
    placeholder: "BYTES",
    fallback: "16777216",
    meaning: "bytes of one image",
    parse: (text) => wholeNumber(text, 1, 1_073_741_824),
  },
  productLimit: {
    variable: "SELLER_PRODUCT_LIMIT",
    flag: "product-limit",
    placeholder: "N",
    fallback: "1000000",
    meaning: "products of a seller; 0 allows no new ones",
    parse: (text) => wholeNumber(text, 0, 1_000_000_000),
  },
  imageQuota: {
    variable: "SELLER_IMAGE_QUOTA",
    flag: "image-quota",
    placeholder: "BYTES",
    fallback: "10737418240",
    meaning: "bytes of stored images of a seller; 0 allows none",
    parse: (text) => wholeNumber(text, 0, 999_999_999_999_999),
  },
  keepUploadsDays: {
    variable: "SELLER_KEEP_UPLOADS_DAYS",
    placeholder: "DAYS",
    fallback: "90",
    meaning: "how long final uploads and their results are kept; 0: for ever",
    parse: days,
  },
  undoDays: {
    variable: "SELLER_UNDO_DAYS",
    placeholder: "DAYS",
    fallback: "30",
    meaning: "how long an upload can be undone; 0: never",
    parse: days,
  },
  keepEventsDays: {
    variable: "SELLER_KEEP_EVENTS_DAYS",
    placeholder: "DAYS",
    fallback: "30",
    meaning:
      "how long events and their deliveries are kept, those not delivered three times as long; 0: for ever",
    parse: days,
  },
  keepReferencesDays: {
    variable: "SELLER_KEEP_REFERENCES_DAYS",
    placeholder: "DAYS",
    fallback: "400",
    meaning: "how long a repeated reference is recognized; 0: for ever",
    parse: days,
  },
  keepPricesDays: {
    variable: "SELLER_KEEP_PRICES_DAYS",
    placeholder: "DAYS",
    fallback: "90",
    meaning: "how long changes of prices are shown; 0: for ever",
    parse: days,
  },
  keepImagesDays: {
    variable: "SELLER_KEEP_IMAGES_DAYS",
    placeholder: "DAYS",
    fallback: "0",
    meaning:
      "how long an image that no product shows is kept; 0: until images prune --delete",
    parse: days,
  },
  publicUrl: {
    variable: "SELLER_PUBLIC_URL",
    placeholder: "URL",
    fallback: "",
    meaning:
      "how others reach the page, for links in notices; by default where this process listens",
    parse: endpoint,
  },
  noticesUrl: {
    variable: "SELLER_NOTICES_URL",
    placeholder: "URL",
    fallback: "",
    meaning: "URL that receives notices to the operator",
    // It may have a key in it.
    secret: true,
    parse: noticesUrl,
  },
  noticesSecret: {
    variable: "SELLER_NOTICES_SECRET",
    placeholder: "SECRET",
    fallback: "",
    meaning:
      "secret that signs these notices: whsec_ and the Base64 of 24 to 64 random bytes",
    secret: true,
    parse: signingSecret,
  },
  smtpUrl: {
    variable: "SELLER_SMTP_URL",
    placeholder: "URL",
    fallback: "",
    meaning:
      "smtp://USER:PASSWORD@HOST:PORT or smtps://…: the server that takes mail to sellers",
    secret: true,
    parse: smtpUrl,
  },
  mailFrom: {
    variable: "SELLER_MAIL_FROM",
    placeholder: "ADDRESS",
    fallback: "",
    meaning: "sender of that mail: an address, or NAME <ADDRESS>",
    parse: mailFrom,
  },
  securityContact: {
    variable: "SELLER_SECURITY_CONTACT",
    placeholder: "URL",
    fallback: "",
    meaning:
      "where to report weaknesses: mailto: or https:, served as /.well-known/security.txt",
    parse: contact,
  },
  roles: {
    variable: "SELLER_ROLES",
    flag: "roles",
    placeholder: "ROLE,…",
    fallback: ROLES.join(","),
    meaning: `which parts this process runs, of ${ROLES.join(", ")}`,
    parse: roles,
  },
  logLevel: {
    variable: "SELLER_LOG",
    flag: "log",
    placeholder: "LEVEL",
    fallback: "info",
    meaning: `how much is logged: ${LOG_LEVELS.join(", ")}`,
    parse: (text) => oneOf(text, LOG_LEVELS),
  },
} satisfies Record<string, Setting<unknown>>;

/** What `parse` returns of each setting. */
export type Config = {
  readonly [K in keyof typeof ALL]: ReturnType<typeof ALL[K]["parse"]>;
};

export const SETTINGS: { readonly [K in keyof Config]: Setting<Config[K]> } =
  ALL;

export interface ConfigResult {
  /** null when there are mistakes. */
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

/** Every setting by its variable; of a secret, whether it is set. */
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

/** Settings, each of which the other one of its pair needs. */
const NEEDED: readonly (readonly [keyof Config, keyof Config])[] = [
  ["noticesSecret", "noticesUrl"],
  ["mailFrom", "smtpUrl"],
  ["smtpUrl", "mailFrom"],
];

/** Object storage requires a key: one sentence for each missing part of it. */
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

function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

function wholeNumber(text: string, from: number, to: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (value >= from && value <= to) return value;
  throw new SettingError(
    `${quoted(text)} is not a whole number from ${from} to ${to}.`,
  );
}

function days(text: string): number {
  return wholeNumber(text, 0, 36_500);
}

function oneOf<T extends string>(text: string, known: readonly T[]): T {
  const found = known.find((value) => value === text);
  if (found !== undefined) return found;
  throw new SettingError(
    `${quoted(text)} is not one of ${known.join(", ")}.`,
  );
}

function list(text: string): string[] {
  return text.split(",").map((part) => part.trim()).filter(Boolean);
}

function roles(text: string): readonly Role[] {
  const wanted = list(text).map((role) => oneOf(role, ROLES));
  if (wanted.length > 0) return ROLES.filter((role) => wanted.includes(role));
  throw new SettingError(`at least one of ${ROLES.join(", ")} is needed.`);
}

function hostName(text: string): string {
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  if (/^0(\.0){0,3}$/.test(bare)) {
    throw new SettingError(
      `${quoted(text)} is denied to the process, as connecting to it would ` +
        "lead to this machine; to listen on every address, IPv4 included, " +
        "write ::.",
    );
  }
  if (isIP(bare) !== 0) return bare;
  if (/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(bare)) return bare;
  throw new SettingError(
    `${
      quoted(text)
    } is not an address or host name such as 127.0.0.1, :: or localhost.`,
  );
}

function cidr(text: string): string {
  if (parseCidr(text) !== null) return text;
  throw new SettingError(
    `${quoted(text)} is not a CIDR such as 10.0.0.0/8 or fd00::/8.`,
  );
}

const URL_PARAMETERS = [
  "sslmode",
  "sslrootcert",
  "target_session_attrs",
  "load_balance_hosts",
];
const SSL_MODES = ["disable", "require", "verify-full"];

/** The value contains a password, so messages do not repeat it. */
function databaseUrl(text: string): string | null {
  if (text === "") return null;
  const urls = serverUrls(text);
  if (urls === null || !urls.every(isWellFormed)) {
    throw new SettingError(
      "the value is not of the form postgres://USER:PASSWORD@HOST:PORT/DATABASE, " +
        "where commas may separate several HOST:PORT; special characters in it " +
        "are percent-encoded.",
    );
  }
  checkParameters(urls[0].searchParams);
  return text;
}

function isWellFormed(
  { hostname, username, password, pathname }: URL,
): boolean {
  return hostname !== "" && username !== "" && /^\/[^/]+$/.test(pathname) &&
    [username, password, pathname].every(isPercentEncoded);
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function checkParameters(parameters: URLSearchParams): void {
  const names = [...parameters.keys()];
  const known = names.every((name) => URL_PARAMETERS.includes(name)) &&
    new Set(names).size === names.length;
  const mode = parameters.get("sslmode") ?? "disable";
  if (!known || !SSL_MODES.includes(mode)) {
    throw new SettingError(
      `behind the "?" only sslmode (${SSL_MODES.join(", ")}), sslrootcert ` +
        "(a file of certificates), target_session_attrs and load_balance_hosts " +
        "are known, each once.",
    );
  }
  const balance = parameters.get("load_balance_hosts") ?? "random";
  if (balance !== "random") {
    throw new SettingError("load_balance_hosts can only be random.");
  }
  const target = parameters.get("target_session_attrs") ?? "read-write";
  if (target !== "read-write") {
    throw new SettingError(
      "target_session_attrs can only be read-write, because the service writes.",
    );
  }
  // `sslrootcert` without verification would be silently ignored.
  if (parameters.has("sslrootcert") && mode !== "verify-full") {
    throw new SettingError(
      "sslrootcert is for sslmode=verify-full; nothing else looks at it.",
    );
  }
}

/** At least two letters before the colon: a single letter is a drive. */
const URL_LIKE = /^[a-z][a-z0-9+.-]+:\//i;

/** As an absolute path. */
function path(text: string): string {
  if (!URL_LIKE.test(text)) return resolve(text);
  throw new SettingError(
    `${quoted(text)} is a URL; write a path such as /srv/seller.`,
  );
}

function headerValue(text: string): string | null {
  if (text === "") return null;
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new SettingError(
    "the key is not made of visible ASCII characters without spaces alone.",
  );
}

function imagePlace(text: string): ImagePlace | null {
  if (text === "") return null;
  if (!URL_LIKE.test(text)) {
    return { kind: "folder", folder: resolve(text) };
  }
  const place = parseS3Place(withoutTrailing(text, "/"));
  if (place !== null) {
    return { kind: "s3", bucket: place.bucket, prefix: place.key };
  }
  throw new SettingError(
    `${
      quoted(text)
    } is neither a folder nor s3://BUCKET/PREFIX, with a prefix of letters, digits and ._-/ alone.`,
  );
}

/**
 * What `s3://BUCKET/KEY` names, without a slash at its ends; null for anything
 * else. The key may be "".
 */
export function parseS3Place(
  text: string,
): { bucket: string; key: string } | null {
  if (!text.startsWith("s3://")) return null;
  const [bucket, ...parts] = text.slice("s3://".length).split("/");
  const key = parts.join("/");
  // Only characters that every server and signature treats alike.
  const isBucket = /^[a-z0-9.-]{3,63}$/.test(bucket) &&
    !/^[.-]/.test(bucket) && !/[.-]$/.test(bucket);
  const isPart = (part: string) =>
    /^[A-Za-z0-9._-]+$/.test(part) && !/^\.{1,2}$/.test(part);
  if (!isBucket || !parts.every(isPart) || key.length > 500) return null;
  return { bucket, key };
}

function endpoint(text: string): string | null {
  if (text === "") return null;
  const url = URL.parse(text);
  const plain = url !== null && /^https?:$/.test(url.protocol) &&
    url.username + url.password + url.search + url.hash === "";
  if (plain) return withoutTrailing(url.href, "/");
  throw new SettingError(
    "it is not an http or https URL without user, query and fragment.",
  );
}

function noticesUrl(text: string): string | null {
  if (text === "") return null;
  const parsed = parseSellerUrl(text);
  if ("url" in parsed) return parsed.url.href;
  throw new SettingError(parsed.problem);
}

/** With its prefix; as it is a secret, messages do not repeat it. */
function signingSecret(text: string): string | null {
  if (text === "") return null;
  const base64 = text.replace(/^whsec_/, "");
  const bytes = bytesOf(base64);
  if (bytes >= 24 && bytes <= 64) return `whsec_${base64}`;
  throw new SettingError(
    "it is not whsec_ and the Base64 of 24 to 64 random bytes, as " +
      "`openssl rand -base64 32` prints them.",
  );
}

/** Bytes that a text in Base64 stands for; 0 for any other text. */
function bytesOf(base64: string): number {
  try {
    return Uint8Array.fromBase64(base64).length;
  } catch {
    return 0;
  }
}

const SUBMISSION_PORT = 587;
const SUBMISSIONS_PORT = 465;

/** The value contains a password, so messages do not repeat it. */
function smtpUrl(text: string): MailServer | null {
  if (text === "") return null;
  const url = URL.parse(text);
  const isSound = url !== null && /^smtps?:$/.test(url.protocol) &&
    url.hostname !== "" && /^\/?$/.test(url.pathname) &&
    url.search + url.hash === "" &&
    (url.username === "") === (url.password === "") &&
    isPercentEncoded(url.username) && isPercentEncoded(url.password);
  if (!isSound) {
    throw new SettingError(
      "the value is not of the form smtp://USER:PASSWORD@HOST:PORT, with " +
        "special characters in user and password percent-encoded; smtps:// is " +
        "for TLS from the first byte, and USER:PASSWORD@ may be left out.",
    );
  }
  const { protocol, hostname, port, username, password } = url;
  const secure = protocol === "smtps:";
  return {
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(port) || (secure ? SUBMISSIONS_PORT : SUBMISSION_PORT),
    secure,
    login: username === "" ? null : {
      user: decodeURIComponent(username),
      password: decodeURIComponent(password),
    },
  };
}

function mailFrom(text: string): MailFrom | null {
  if (text === "") return null;
  const isNamed = text.endsWith(">") && text.includes("<");
  const start = isNamed ? text.lastIndexOf("<") : 0;
  const address = isNamed ? text.slice(start + 1, -1) : text;
  const name = text.slice(0, start).trim().replace(/^"(.*)"$/, "$1");
  if (isEmail(address) && !/[<>"\\\u0000-\u001f\u007f]/.test(name)) {
    return { name, address };
  }
  throw new SettingError(
    `${quoted(text)} is neither an address such as shop@example.com nor ` +
      "Shop <shop@example.com>.",
  );
}

function contact(text: string): string | null {
  if (text === "") return null;
  const url = URL.parse(text);
  if (url !== null && /^(mailto|https):$/.test(url.protocol)) return url.href;
  throw new SettingError(
    "it is neither an https URL nor mailto: with an address, as in mailto:security@example.com.",
  );
}

function regionName(text: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(text)) return text;
  throw new SettingError(
    `${quoted(text)} is not the name of a region such as eu-north-1.`,
  );
}
