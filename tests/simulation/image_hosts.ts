/**
 * Hosts of images. The first label of a host's name is its behaviour:
 * `good.images.example` is good, and so are `good-2.images.example` and all
 * others with that label. A path ends in png, jpg, gif, webp or avif, and each
 * PNG path is a different picture.
 */
import { crc32 } from "node:zlib";
import { ATTEMPTS } from "../../src/images/image.ts";
import { pictureType } from "../../src/sandbox/pictures.ts";
import type { HostAnswer } from "./http_messages.ts";
import type { HostDefinition, Reaction, ReceivedRequest } from "./network.ts";
import {
  animation,
  bitmap,
  corrupt,
  page,
  picture,
  tooManyPixels,
} from "./pictures.ts";

/** A request that an image host received. */
export interface ImageRequest {
  method: string;
  url: string;
  client: string;
  /** Virtual milliseconds. */
  at: number;
  /** The status of its answer; null for no answer, or no HTTP. */
  status: number | null;
}

interface Asked {
  request: ReceivedRequest;
  /** The picture of this path. */
  bytes: Uint8Array<ArrayBuffer>;
  type: string;
  /** How many GETs this URL got before. */
  before: number;
}

type Behaviour = (asked: Asked) => Reaction;

/** With an ETag, and 304 to a matching condition. */
const good: Behaviour = ({ request, bytes, type }) => {
  const etag = `"${crc32(bytes).toString(16)}"`;
  const headers = { "Content-Type": type, ETag: etag };
  return request.headers["if-none-match"] === etag
    ? { status: 304, headers }
    : { status: 200, headers, body: bytes };
};

const answer = (asked: Asked) => good(asked) as HostAnswer;
const always = (status: number, headers = {}): Behaviour => () => ({
  status,
  headers,
  body: page(),
});

/** Applies only to GET; HEAD is answered as by a good host. */
const atGet = (reaction: Behaviour): Behaviour => (asked) =>
  asked.request.method === "HEAD" ? good(asked) : reaction(asked);

/** Applies only to the first GET of a URL. */
const atFirst = (reaction: Behaviour): Behaviour =>
  atGet((asked) => asked.before === 0 ? reaction(asked) : good(asked));

const sends = (make: () => Uint8Array<ArrayBuffer>): Behaviour => (asked) =>
  good({ ...asked, bytes: make() });

const LAST_MODIFIED = "Tue, 03 Nov 2026 10:00:00 GMT";
const CHANGES_MS = 60_000;
const PRIVATE = "10.0.0.7";
/** A public address at which there is no host. */
const DEAD = "93.183.0.1";

const BEHAVIOURS = {
  good,
  plain: ({ bytes, type }) => ({
    status: 200,
    headers: { "Content-Type": type },
    body: bytes,
  }),
  dated: ({ request, bytes }) => {
    const headers = { "Last-Modified": LAST_MODIFIED };
    return request.headers["if-modified-since"] === LAST_MODIFIED
      ? { status: 304, headers }
      : { status: 200, headers, body: bytes };
  },
  /** Another picture every minute. */
  changing: (asked) => {
    const { at, url } = asked.request;
    const bytes = picture(`${url}?${Math.floor(at / CHANGES_MS)}.png`)!;
    return good({ ...asked, bytes });
  },
  slow: (asked) => ({ ...answer(asked), afterMs: 2_500 }),
  drip: (asked) => ({ ...answer(asked), drip: { bytes: 50, everyMs: 100 } }),
  /** The image takes longer than a lease that nobody renews. */
  heavy: (asked) => ({
    ...good({ ...asked, bytes: padded(asked.bytes) }) as HostAnswer,
    drip: { bytes: 2_000, everyMs: 1_000 },
  }),
  chunked: (asked) => ({ ...answer(asked), framing: "chunked" }),
  /** The end of the connection marks the end of the body. */
  unmarked: (asked) => ({ ...answer(asked), framing: "close" }),
  animated: sends(() => animation(5)),
  /** Declares another type. */
  mislabelled: (asked) => good({ ...asked, type: "text/html" }),
  flaky: atFirst(always(503)),
  hesitant: atFirst(always(503, { "Retry-After": "20" })),
  busy: atFirst(always(429, { "Retry-After": "30" })),
  /** Only the last attempt succeeds. */
  weary: atGet((asked) =>
    asked.before < ATTEMPTS - 1 ? { status: 503, headers: {} } : good(asked)
  ),
  broken: atFirst((asked) => ({
    ...answer(asked),
    breaks: { share: 0.7, how: "reset" },
  })),
  cut: atFirst((asked) => ({
    ...answer(asked),
    breaks: { share: 0.7, how: "close" },
  })),
  stuck: atFirst((asked) => ({
    ...answer(asked),
    breaks: { share: 0.7, how: "silence" },
  })),
  missing: always(404),
  gone: always(410),
  forbidden: always(403),
  moved: always(302, { Location: "http://good.images.example/a.png" }),
  error: always(500),
  down: atGet(always(503)),
  limited: atGet(always(429, { "Retry-After": "5" })),
  vanished: atGet(always(404)),
  page: atGet(always(200)),
  /** Answers HEAD with 200, and no GET. */
  mute: atGet(() => "silence"),
  /** Declares more bytes than it sends. */
  short: atGet((asked) => ({
    ...answer(asked),
    declares: asked.bytes.length + 100,
    breaks: { share: 1, how: "close" },
  })),
  /** Sends half of a file, and then closes the connection. */
  half: atGet((asked) => ({
    ...answer(asked),
    body: asked.bytes.slice(0, asked.bytes.length / 2),
    framing: "close",
  })),
  crawl: atGet((asked) => ({
    ...answer(asked),
    drip: { bytes: 4, everyMs: 2_000 },
  })),
  large: atGet((asked) => ({
    ...answer(asked),
    declares: 900_000_000,
    endless: true,
  })),
  endless: atGet((asked) => ({
    ...answer(asked),
    framing: "close",
    endless: true,
  })),
  pixels: sends(tooManyPixels),
  frames: sends(() => animation(1_100)),
  corrupt: sends(corrupt),
  bitmap: sends(bitmap),
  empty: sends(() => new Uint8Array()),
  compressed: atGet((asked) => ({
    status: 200,
    headers: { "Content-Encoding": "gzip" },
    body: asked.bytes,
  })),
  garbled: () => new TextEncoder().encode("220 mail.example ESMTP\r\n"),
  silent: () => "silence",
  resetting: () => "reset",
  closing: () => "close",
} as const satisfies Record<string, Behaviour>;

/** Hosts whose names or addresses are special; otherwise they are good. */
const REACHED = {
  refusing: { connects: "refused" },
  unreachable: { connects: "unreachable" },
  deaf: { connects: "silence" },
  untrusted: { tls: "untrusted" },
  expired: { tls: "expired" },
  elsewhere: { tls: "otherName" },
  insecure: { tls: "noTls" },
  secretive: { tls: "silence" },
  slowname: { lookupMs: 3_000 },
  lostname: { lookupMs: 25_000 },
  private: { addresses: () => [PRIVATE] },
  mixed: { addresses: (_, own) => [own, PRIVATE] },
  /**
   * Resolves to a public address for a process, and to a private one for its
   * threads, which ask later.
   */
  rebound: {
    addresses: (_, own, client) => [client.includes("/") ? PRIVATE : own],
  },
  /** The first of its addresses does not answer. */
  twoway: { addresses: (_, own) => [DEAD, own] },
  /** The name has no address. */
  bare: { addresses: () => [] },
} as const satisfies Record<string, Omit<HostDefinition, "answer">>;

export type ImageHostKind = keyof typeof BEHAVIOURS | keyof typeof REACHED;

export const IMAGE_HOST_KINDS = [
  ...Object.keys(BEHAVIOURS),
  ...Object.keys(REACHED),
] as ImageHostKind[];

/** The last labels of every image host's name. */
export const IMAGE_DOMAIN = "images.example";

export class ImageHosts {
  /** The requests to all hosts, in order. */
  readonly requests: ImageRequest[] = [];
  readonly #gets = new Map<string, number>();
  readonly #pictures = new Map<string, Uint8Array<ArrayBuffer> | null>();

  /** The host with this name; null for another domain or kind. */
  find(name: string): HostDefinition | null {
    if (!name.endsWith(`.${IMAGE_DOMAIN}`)) return null;
    const kind = name.split(/[.-]/)[0];
    const behaviour = own<Behaviour>(BEHAVIOURS, kind);
    const reached = own<Omit<HostDefinition, "answer">>(REACHED, kind);
    if (behaviour === null && reached === null) return null;
    return {
      ...reached,
      answer: (request) => this.#answer(request, behaviour ?? good),
    };
  }

  /** How many GETs a URL got. */
  gets(url: string): number {
    return this.#gets.get(url) ?? 0;
  }

  #answer(request: ReceivedRequest, behaviour: Behaviour): Reaction {
    const { method, url, client, at, target } = request;
    const before = this.gets(url);
    if (method === "GET") this.#gets.set(url, before + 1);
    const bytes = this.#picture(target);
    const reaction = bytes === null
      ? always(404)({} as Asked)
      : behaviour({ request, bytes, type: pictureType(target), before });
    const status = statusOf(reaction);
    this.requests.push({ method, url, client, at, status });
    return reaction;
  }

  #picture(path: string): Uint8Array<ArrayBuffer> | null {
    const known = this.#pictures.get(path);
    if (known !== undefined) return known;
    const made = picture(path);
    this.#pictures.set(path, made);
    return made;
  }
}

/** A picture, followed by bytes that no reader reads. */
function padded(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(40_000);
  all.set(bytes);
  return all;
}

/** The status that is sent; null for none. */
export function statusOf(reaction: Reaction): number | null {
  if (typeof reaction === "string" || reaction instanceof Uint8Array) {
    return null;
  }
  return reaction.status;
}

function own<T>(table: Readonly<Record<string, T>>, name: string): T | null {
  return Object.hasOwn(table, name) ? table[name] : null;
}
