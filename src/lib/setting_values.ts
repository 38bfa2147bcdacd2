/**
 * Parsers of settings. Each returns a value, or throws a `SettingError` that
 * names a valid form.
 */
import { isIP } from "node:net";
import { resolve } from "node:path";
import { parseCidr, wholeRange } from "./cidr.ts";
import { isEmail, type MailFrom, type MailServer } from "./email.ts";
import { serverUrls } from "./server_urls.ts";
import { withoutTrailing } from "./trim.ts";
import { parseSellerUrl } from "./url.ts";

/** A value that a setting cannot take. */
export class SettingError extends Error {}

export type ImagePlace =
  /** An absolute path. */
  | { kind: "folder"; folder: string }
  /** `prefix` has no slash at its ends; "" for none. */
  | { kind: "s3"; bucket: string; prefix: string };

function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

export function parseWholeNumber(
  text: string,
  from: number,
  to: number,
): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (value >= from && value <= to) return value;
  throw new SettingError(
    `${quoted(text)} is not a whole number from ${from} to ${to}.`,
  );
}

export function parseDays(text: string): number {
  return parseWholeNumber(text, 0, 36_500);
}

export function parseOneOf<T extends string>(
  text: string,
  known: readonly T[],
): T {
  const found = known.find((value) => value === text);
  if (found !== undefined) return found;
  throw new SettingError(
    `${quoted(text)} is not one of ${known.join(", ")}.`,
  );
}

/** The values between commas. */
export function parseList(text: string): string[] {
  return text.split(",").map((part) => part.trim()).filter(Boolean);
}

export function parseHostName(text: string): string {
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

export function parseNetwork(text: string): string {
  const parsed = parseCidr(text);
  const network = parsed && wholeRange(parsed);
  if (network !== null) {
    throw new SettingError(
      `${quoted(text)} names an address in a network; write ${network}.`,
    );
  }
  if (parsed !== null) return text;
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
export function parseDatabaseUrl(text: string): string | null {
  if (text === "") return null;
  const urls = serverUrls(text);
  if (urls === null || !urls.every(isWellFormed)) {
    throw new SettingError(
      "the value is not of the form " +
        "postgres://USER:PASSWORD@HOST:PORT/DATABASE, " +
        "where commas may separate several HOST:PORT; write special " +
        "characters of the password in percent-encoding: @ is %40, / is %2F, # is %23.",
    );
  }
  checkParameters(urls[0].searchParams);
  return text;
}

function isWellFormed(
  { hostname, username, password, pathname, hash }: URL,
): boolean {
  // A "#" that is not encoded begins the hash.
  return hash === "" && hostname !== "" && username !== "" &&
    /^\/[^/]+$/.test(pathname) &&
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
  const areKnown = names.every((name) => URL_PARAMETERS.includes(name)) &&
    new Set(names).size === names.length;
  const mode = parameters.get("sslmode") ?? "disable";
  if (!areKnown || !SSL_MODES.includes(mode)) {
    throw new SettingError(
      `after the "?" only sslmode (${SSL_MODES.join(", ")}), sslrootcert ` +
        "(a file of certificates), target_session_attrs and " +
        "load_balance_hosts are known, each once.",
    );
  }
  const balance = parameters.get("load_balance_hosts") ?? "random";
  if (balance !== "random") {
    throw new SettingError("load_balance_hosts can only be random.");
  }
  const target = parameters.get("target_session_attrs") ?? "read-write";
  if (target !== "read-write") {
    throw new SettingError(
      "target_session_attrs can only be read-write, because the " +
        "service writes.",
    );
  }
  // `sslrootcert` without verification would be silently ignored.
  if (parameters.has("sslrootcert") && mode !== "verify-full") {
    throw new SettingError(
      "sslrootcert is used only with sslmode=verify-full.",
    );
  }
}

/** At least two letters before the colon: a single letter is a drive. */
const URL_LIKE = /^[a-z][a-z0-9+.-]+:\//i;

/** Returns an absolute path. */
export function parsePath(text: string): string {
  if (!URL_LIKE.test(text)) return resolve(text);
  throw new SettingError(
    `${quoted(text)} is a URL; write a path such as /srv/seller.`,
  );
}

export function parseHeaderValue(text: string): string | null {
  if (text === "") return null;
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new SettingError(
    "the key has a space, or a character that is not visible ASCII.",
  );
}

/** The valid places of images, for messages. */
export const IMAGE_PLACES = "a folder or s3://BUCKET/PREFIX";

export function parseImagePlace(text: string): ImagePlace | null {
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
    } is not ${IMAGE_PLACES}, with a prefix of letters, digits and ._-/ alone.`,
  );
}

/**
 * Parses `s3://BUCKET/KEY`, ignoring slashes at the ends of the key; null for
 * anything else. The key may be "".
 */
export function parseS3Place(
  text: string,
): { bucket: string; key: string } | null {
  if (!text.startsWith("s3://")) return null;
  const [bucket, ...parts] = text.slice("s3://".length).split("/");
  const key = parts.join("/");
  // Only characters that all servers and signatures encode in the same way.
  const isBucket = /^[a-z0-9.-]{3,63}$/.test(bucket) &&
    !/^[.-]/.test(bucket) && !/[.-]$/.test(bucket);
  const isPart = (part: string) =>
    /^[A-Za-z0-9._-]+$/.test(part) && !/^\.{1,2}$/.test(part);
  if (!isBucket || !parts.every(isPart) || key.length > 500) return null;
  return { bucket, key };
}

export function parseEndpoint(text: string): string | null {
  if (text === "") return null;
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) &&
    url.username + url.password + url.search + url.hash === "";
  if (isPlain) return withoutTrailing(url.href, "/");
  throw new SettingError(
    "it is not an http or https URL without user, query and fragment.",
  );
}

export function parseNoticesUrl(text: string): string | null {
  if (text === "") return null;
  const parsed = parseSellerUrl(text);
  if ("url" in parsed) return parsed.url.href;
  throw new SettingError(parsed.problem);
}

/** Returns the secret with its prefix. Messages do not repeat it. */
export function parseSigningSecret(text: string): string | null {
  if (text === "") return null;
  const base64 = text.replace(/^whsec_/, "");
  const bytes = bytesOf(base64);
  if (bytes >= 24 && bytes <= 64) return `whsec_${base64}`;
  throw new SettingError(
    "it is not whsec_ and the Base64 of 24 to 64 random bytes, as " +
      "`openssl rand -base64 32` prints them.",
  );
}

/** How many bytes a Base64 text encodes; 0 for any other text. */
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
export function parseSmtpUrl(text: string): MailServer | null {
  if (text === "") return null;
  const url = URL.parse(text);
  const isValid = url !== null && /^smtps?:$/.test(url.protocol) &&
    url.hostname !== "" && /^\/?$/.test(url.pathname) &&
    url.search + url.hash === "" &&
    (url.username === "") === (url.password === "") &&
    isPercentEncoded(url.username) && isPercentEncoded(url.password);
  if (!isValid) {
    throw new SettingError(
      "the value is not of the form smtp://USER:PASSWORD@HOST:PORT, with " +
        "special characters in user and password percent-encoded; " +
        "smtps:// is for TLS from the first byte, and USER:PASSWORD@ may be left out.",
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

export function parseMailFrom(text: string): MailFrom | null {
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

export function parseContact(text: string): string | null {
  if (text === "") return null;
  const url = URL.parse(text);
  if (url !== null && /^(mailto|https):$/.test(url.protocol)) return url.href;
  throw new SettingError(
    "it is neither an https URL nor mailto: with an address, as in " +
      "mailto:security@example.com.",
  );
}

export function parseRegionName(text: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(text)) return text;
  throw new SettingError(
    `${quoted(text)} is not the name of a region such as eu-north-1.`,
  );
}
