/**
 * The hosts that a world uses, by the first label of their names, and what
 * happens to an image or a delivery there while the network does not fail.
 */
import { ATTEMPTS, imageAddress } from "../../../src/images/image.ts";

/** `refused` at the HEAD; the others after it. */
export type Fate = "stored" | "refused" | "failed";

/** Each host's share of the images. */
const IMAGE_HOSTS = {
  good: ["stored", 16],
  plain: ["stored", 3],
  dated: ["stored", 1],
  changing: ["stored", 1],
  slow: ["stored", 1],
  drip: ["stored", 1],
  heavy: ["stored", 1],
  chunked: ["stored", 1],
  unmarked: ["stored", 1],
  animated: ["stored", 0.3],
  mislabelled: ["stored", 1],
  slowname: ["stored", 1],
  twoway: ["stored", 1],
  flaky: ["stored", 2],
  hesitant: ["stored", 1],
  busy: ["stored", 1],
  broken: ["stored", 2],
  cut: ["stored", 1],
  stuck: ["stored", 0.3],
  weary: ["stored", 0],
  missing: ["refused", 3],
  gone: ["refused", 1],
  forbidden: ["refused", 1],
  moved: ["refused", 1],
  error: ["refused", 1],
  garbled: ["refused", 1],
  silent: ["refused", 0.5],
  resetting: ["refused", 1],
  closing: ["refused", 1],
  refusing: ["refused", 1],
  unreachable: ["refused", 1],
  deaf: ["refused", 0.5],
  untrusted: ["refused", 0.5],
  expired: ["refused", 0.5],
  elsewhere: ["refused", 0.5],
  insecure: ["refused", 0.5],
  secretive: ["refused", 0.5],
  private: ["refused", 1],
  mixed: ["refused", 1],
  bare: ["refused", 1],
  lostname: ["refused", 0.3],
  vanished: ["failed", 1],
  page: ["failed", 1],
  down: ["failed", 0.5],
  short: ["failed", 0.3],
  half: ["failed", 0.3],
  large: ["failed", 0.5],
  endless: ["failed", 0.1],
  crawl: ["failed", 0.2],
  limited: ["failed", 0.3],
  rebound: ["failed", 0.5],
  pixels: ["failed", 0.5],
  frames: ["failed", 0.3],
  corrupt: ["failed", 0.5],
  bitmap: ["failed", 0.5],
  empty: ["failed", 0.3],
  compressed: ["failed", 0.5],
  mute: ["failed", 0.1],
} as const satisfies Record<string, readonly [Fate, number]>;

export type ImageHost = keyof typeof IMAGE_HOSTS;

export const IMAGE_HOST_NAMES = Object.keys(IMAGE_HOSTS) as ImageHost[];

/** Weights of the image hosts with one of these fates. */
export function imageHostLots(
  ...fates: readonly Fate[]
): Partial<Record<ImageHost, number>> {
  return Object.fromEntries(
    Object.entries(IMAGE_HOSTS)
      .filter(([, [fate]]) => fates.includes(fate))
      .map(([name, [, share]]) => [name, share]),
  );
}

/** How an endpoint treats a delivery. */
export type Manner =
  /** Accepts it at the first attempt. */
  | "takes"
  /** Accepts it at the second attempt. */
  | "hesitates"
  /** Never accepts it. */
  | "fails"
  /** Answers 410. */
  | "leaves";

/** Hosts whose URLs use https. */
const SECURE: ReadonlySet<string> = new Set<ImageHost | Endpoint>([
  "dated",
  "chunked",
  "talkative",
  "broken",
  "cut",
  "untrusted",
  "expired",
  "elsewhere",
  "insecure",
  "secretive",
]);

function schemeOf(host: string): string {
  return SECURE.has(host) ? "https" : "http";
}

const ENDPOINTS = {
  good: ["takes", 12],
  accepting: ["takes", 1],
  slow: ["takes", 4],
  talkative: ["takes", 1],
  half: ["takes", 0.5],
  flaky: ["hesitates", 3],
  busy: ["hesitates", 3],
  broken: ["hesitates", 2],
  closing: ["hesitates", 1],
  forgetful: ["hesitates", 1],
  down: ["fails", 1],
  moved: ["fails", 1],
  refused: ["fails", 0.5],
  untrusted: ["fails", 0.5],
  garbled: ["fails", 0.5],
  silent: ["fails", 0.5],
  late: ["fails", 0.5],
  refusing: ["fails", 0.5],
  deaf: ["fails", 0.3],
  gone: ["leaves", 1],
} as const satisfies Record<string, readonly [Manner, number]>;

export type Endpoint = keyof typeof ENDPOINTS;

export const ENDPOINT_NAMES = Object.keys(ENDPOINTS) as Endpoint[];

/** Weights of the endpoints with one of these manners. */
export function endpointLots(...manners: readonly Manner[]): EndpointLots {
  return Object.fromEntries(
    Object.entries(ENDPOINTS)
      .filter(([, [manner]]) => manners.includes(manner))
      .map(([name, [, share]]) => [name, share]),
  );
}

export type EndpointLots = Readonly<Partial<Record<Endpoint, number>>>;

/** How many attempts an image at these hosts needs at most. */
const ATTEMPTS_NEEDED: Partial<Record<ImageHost, number>> = {
  good: 1,
  plain: 1,
  dated: 1,
  slow: 1,
  drip: 1,
  chunked: 1,
  unmarked: 1,
  mislabelled: 1,
  slowname: 1,
  twoway: 1,
  flaky: 2,
  hesitant: 2,
  busy: 2,
  weary: ATTEMPTS,
};

/** The pause that hosts request, in milliseconds. */
const RETRY_AFTER_MS: Partial<Record<ImageHost, number>> = {
  hesitant: 20_000,
  busy: 30_000,
  limited: 5_000,
};

/** 0 if the host requests no pause. */
export function retryAfterOf(url: string): number {
  return RETRY_AFTER_MS[hostOf(url) as ImageHost] ?? 0;
}

/** Infinity if an image at this URL need not be stored. */
export function attemptsNeeded(url: string): number {
  return ATTEMPTS_NEEDED[hostOf(url) as ImageHost] ?? Infinity;
}

/** @param number tells apart hosts that behave alike */
export function imageUrl(
  host: ImageHost,
  name: string,
  number?: number,
): string {
  const label = number === undefined ? host : `${host}-${number}`;
  return `${schemeOf(host)}://${label}.images.example/${name}.png`;
}

export function fateOf(url: string): Fate {
  // An uploaded image.
  if (imageAddress(url) !== null) return "stored";
  return IMAGE_HOSTS[hostOf(url) as ImageHost][0];
}

export function hookUrl(endpoint: Endpoint, path: string): string {
  return `${schemeOf(endpoint)}://${endpoint}.hooks.example/${path}`;
}

export function mannerOf(url: string): Manner {
  return ENDPOINTS[hostOf(url) as Endpoint][0];
}

/**
 * Whether the webhook with a URL may be disabled: after a 410, or if a clock
 * skips the five days after which failures disable it.
 */
export function mayBeDisabled(url: string, jumps: boolean): boolean {
  const manner = mannerOf(url);
  return manner === "leaves" || (jumps && manner !== "takes");
}

function hostOf(url: string): string {
  return new URL(url).hostname.split(/[.-]/)[0];
}
