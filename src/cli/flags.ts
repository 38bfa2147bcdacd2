/** Flags that several commands have. */
import { type Setting, SETTINGS } from "../config.ts";
import { parseText, type QueryParameter } from "../http/server/parameters.ts";
import { DAY_MS } from "../lib/durations.ts";
import { dayOf } from "../lib/values.ts";
import { parseList } from "../lib/setting_values.ts";
import type { KeyTexts } from "../sellers/wanted_key.ts";
import { isoTime } from "../xml/encode.ts";
import { type Command, type Flag, flag, UsageError } from "./command.ts";

function settingFlags(settings: readonly Setting<unknown>[]): Flag[] {
  return settings.flatMap(({ flag, placeholder, meaning }) =>
    flag === undefined ? [] : [{ name: flag, placeholder, meaning }]
  );
}

/** The flags of all settings that have one. */
export const allSettingFlags = settingFlags(Object.values(SETTINGS));

/** `--data FOLDER`, for commands that only need the database. */
export const [dataFlag] = settingFlags([SETTINGS.dataDir]);

/** `--image-store PLACE`, for commands that maintain the image files. */
export const [imageStoreFlag] = settingFlags([SETTINGS.imageStore]);

/** `--seller NAME`, for commands about one seller. */
export const sellerFlag = flag("seller", "NAME", "the seller's name", true);

/** `--since TIME` and `--until TIME`, for lists of rows with a time. */
export const periodFlags: readonly Flag[] = [
  flag(
    "since",
    "TIME",
    "only those of this time and later; a date, today or yesterday is 00:00 " +
      "UTC",
  ),
  flag("until", "TIME", "only those of this time and earlier"),
];

/** The expiry of a key, and the networks from which it may be used. */
export const keyRightsFlags: readonly Flag[] = [
  flag("expires-at", "TIME", "when the key expires; by default never"),
  flag(
    "networks",
    "CIDR,…",
    "where the key may be used; by default everywhere",
  ),
];

/** The values of `keyRightsFlags`. */
export function keyRightsTexts(
  flags: Readonly<Record<string, string | undefined>>,
): Pick<KeyTexts, "expiresAt" | "networks"> {
  const { networks } = flags;
  return {
    expiresAt: flags["expires-at"],
    networks: networks === undefined ? undefined : parseList(networks),
  };
}

/** Whether a key is valid, and until when. */
export function keyState(
  { revokedAt, expiresAt }: {
    revokedAt: number | null;
    expiresAt: number | null;
  },
  now: number,
): string {
  if (revokedAt !== null) return `revoked ${isoTime(revokedAt)}`;
  if (expiresAt === null) return "active";
  return `${expiresAt > now ? "active until" : "expired"} ${
    isoTime(expiresAt)
  }`;
}

/** Names of days, with how many days before today (UTC) each one is. */
const DAYS: ReadonlyMap<string | undefined, number> = new Map([
  ["today", 0],
  ["yesterday", 1],
]);

/**
 * Flags with times, in which `today` and `yesterday` are replaced by their
 * dates.
 */
export function withDates(
  { flags }: Pick<Command, "flags">,
  values: Readonly<Record<string, string | undefined>>,
  now: number,
): Record<string, string | undefined> {
  const dated = { ...values };
  for (const { name, placeholder } of flags) {
    const days = DAYS.get(values[name]);
    if (placeholder !== TIME || days === undefined) continue;
    dated[name] = dayOf(now - days * DAY_MS);
  }
  return dated;
}

const TIME = "TIME";

/**
 * The value of a flag that is parsed like a query parameter; null without the
 * flag.
 */
export function parameterFlag<T>(
  name: string,
  text: string | undefined,
  parameter: QueryParameter<T>,
  mistakes: string[],
): T | null {
  if (text === undefined) return null;
  return parseText(
    text,
    parameter,
    (problem) => mistakes.push(`--${name} ${problem}`),
  );
}

type ValuesOf<P> = {
  [N in keyof P]: P[N] extends QueryParameter<infer T> ? T | null : never;
};

/**
 * The values of flags that are parsed like query parameters; throws a
 * `UsageError`.
 */
export function readParameters<
  P extends Readonly<Record<string, QueryParameter<unknown>>>,
>(
  flags: Readonly<Record<string, string | undefined>>,
  parameters: P,
): ValuesOf<P> {
  const mistakes: string[] = [];
  const values = Object.entries(parameters).map(([name, parameter]) =>
    [name, parameterFlag(name, flags[name], parameter, mistakes)] as const
  );
  if (mistakes.length > 0) throw new UsageError(...mistakes);
  return Object.fromEntries(values) as ValuesOf<P>;
}
