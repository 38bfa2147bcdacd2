/**
 * The hosts of a world: what image hosts and webhook endpoints answer, by
 * name. The simulated network answers so; the models expect it.
 */

/** What an image host does, by the first label of its name. */
export const IMAGE_HOSTS = {
  /** Answers at once, with an ETag. */
  good: "stored",
  /** Answers at once, without any validator. */
  plain: "stored",
  /** Answers after some seconds. */
  slow: "stored",
  /** HEAD 200; the first GET of a path 503, then good. */
  flaky: "stored",
  /** HEAD 200; the first GET of a path breaks off, then good. */
  broken: "stored",
  /** 404 to HEAD and GET. */
  missing: "refused",
  /** 302 to HEAD and GET. */
  moved: "refused",
  /** HEAD 200; every GET 404. */
  vanished: "failed",
  /** HEAD 200; the bytes are a page. */
  page: "failed",
  /** HEAD 200; every GET 503. */
  down: "failed",
  /** Takes the connection, and never answers. */
  silent: "refused",
} as const;

export type ImageHost = keyof typeof IMAGE_HOSTS;

/** What becomes of an image: `refused` at the HEAD, the others after it. */
export type Fate = "stored" | "refused" | "failed";

/** What a webhook endpoint answers, by the first label of its name. */
export const ENDPOINTS = {
  /** 200 at once. */
  good: "delivered",
  /** 204 after three seconds. */
  slow: "delivered",
  /** 503 to the first try of each event, then 200. */
  flaky: "delivered",
  /** 429 with `Retry-After: 30` to the first try of each event, then 200. */
  busy: "delivered",
  /** The connection breaks at the first try of each event, then 200. */
  broken: "delivered",
  /** Always 500. */
  down: "failing",
  /** 410: whoever asks again is disabled. */
  gone: "disabled",
  /** Takes the request, and never answers. */
  silent: "failing",
} as const;

export type Endpoint = keyof typeof ENDPOINTS;

const IMAGE_DOMAIN = "images.example";
const HOOK_DOMAIN = "hooks.example";

export function imageUrl(host: ImageHost, name: string): string {
  return `http://${host}.${IMAGE_DOMAIN}/${name}.png`;
}

export function fateOf(url: string): Fate {
  return IMAGE_HOSTS[hostOf(url) as ImageHost];
}

export function hookUrl(endpoint: Endpoint, path: string): string {
  return `http://${endpoint}.${HOOK_DOMAIN}/${path}`;
}

export function endpointOf(url: string): Endpoint {
  return hostOf(url) as Endpoint;
}

function hostOf(url: string): string {
  return new URL(url).hostname.split(".")[0];
}
