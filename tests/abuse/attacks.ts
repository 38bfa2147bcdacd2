/** Hostile sellers, each with one way to take more than its share. */
import { gzipSync } from "node:zlib";
import { picture } from "../../src/sandbox/pictures.ts";
import { requestBytes } from "../bench/load.ts";
import { type Attacker, products, withImages } from "./attacker.ts";

export interface Attack {
  /** How many sellers take part. */
  sellers: number;
  /**
   * By how many milliseconds the honest seller's p99 may grow; by default as
   * for all attacks.
   */
  delayMs?: number;
  /** Without the rate limit: what it would allow in minutes is sent at once. */
  hurried?: boolean;
  /** What must exist before the attack. */
  prepare?: (attacker: Attacker) => Promise<unknown>;
  /** How many requests of a seller run at once. */
  lanes: number;
  /** What each of them repeats. */
  step: (attacker: Attacker, lane: number) => Promise<unknown>;
}

const LIMIT = 16_777_216;

/** A JPEG with this many bytes. */
function jpeg(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  bytes.set(picture("a.jpg")!);
  bytes.set([0xff, 0xd9], length - 2);
  return bytes;
}

const text = (value: string) => new TextEncoder().encode(value);

/** A document just under the limit that repeats one text. */
function bomb(piece: string, sku = "b"): Uint8Array {
  const head = `<products><product><sku>${sku}</sku><title>t</title>` +
    '<price currency="SEK">1</price><quantity>1</quantity><description>';
  const tail = "</description></product></products>";
  const room = LIMIT - head.length - tail.length - 1_000;
  const count = Math.floor(room / piece.length);
  return new Uint8Array(gzipSync(text(head + piece.repeat(count) + tail)));
}

/** Uploads such a document, created once, from each seller in turn. */
function bombing(piece: string): Attack {
  return uploading(() => bomb(piece), { sellers: 10, lanes: 10, gzip: true });
}

/** Uploads a document that is created once. */
function uploading(
  make: () => Uint8Array,
  { sellers, lanes, gzip = false }: {
    sellers: number;
    lanes: number;
    gzip?: boolean;
  },
): Attack {
  let document: Uint8Array;
  return {
    sellers,
    prepare: () => Promise.resolve(document = make()),
    lanes,
    step: (attacker, lane) =>
      attacker.upload(
        document,
        attacker.key(lane),
        gzip ? { "content-encoding": "gzip" } : {},
      ),
  };
}

/** A body just under the limit: gzip that inflates to nothing. */
function members(): Uint8Array {
  const member = gzipSync(new Uint8Array());
  const bytes = new Uint8Array(LIMIT);
  const count = Math.floor(LIMIT / member.length);
  for (let n = 0; n < count; n++) bytes.set(member, n * member.length);
  return bytes.subarray(0, count * member.length);
}

function deepAndWide(): Uint8Array {
  const attributes = Array.from(
    { length: 64 },
    (_, n) => ` a${n}="${"v".repeat(4_000)}"`,
  ).join("");
  const inside = "<x>".repeat(30) + "</x>".repeat(30);
  return text(
    `<products><product${attributes}>${inside}</product></products>`,
  );
}

/** Uploads images of a kind, as many as one document may have. */
function imaging(kind: string, sellers = 1, count = 100): Attack {
  return {
    sellers,
    lanes: sellers,
    step: async (attacker, lane) => {
      const prefix = `${kind}-${attacker.fresh()}`;
      const document = withImages(
        prefix,
        Math.ceil(count / 10),
        10,
        () => attacker.image(kind),
      );
      await attacker.upload(document, attacker.key(lane));
      await attacker.rest(100);
    },
  };
}

const LONG = "x".repeat(5_000);
const ATTRIBUTES = Array.from(
  { length: 100 },
  (_, n) => `<attribute name="a${n}">${"v".repeat(255)}</attribute>`,
).join("");

/** Products of the greatest allowed size. */
function maximal(prefix: string, count: number): string {
  return products(
    prefix,
    count,
    () =>
      `<description>${LONG}</description><attributes>${ATTRIBUTES}</attributes>`,
  );
}

async function fillWithMaximal(attacker: Attacker): Promise<void> {
  for (const prefix of ["a", "b", "c", "d"]) {
    await attacker.upload(maximal(prefix, 62));
  }
}

function registerHook(attacker: Attacker, trigger: string): Promise<string> {
  const url = `${attacker.hosts.urls[0]}/hook`;
  return attacker.send("POST", "/seller_api/webhooks", {
    body: text(
      `<webhook><trigger>${trigger}</trigger><url>${url}</url></webhook>`,
    ),
  });
}

/** Products of which every value differs in each round. */
function changing(turn: number): string {
  return products(
    "c",
    250,
    () => `<description>${`${turn} `.repeat(1_000)}</description>`,
  );
}

/** One valid product, and a refused one with nearly all of the bytes. */
function mostlyRefused(): Uint8Array {
  const good =
    '<product><sku>good</sku><title>t</title><price currency="SEK">' +
    "1</price><quantity>1</quantity></product>";
  const long = "x".repeat(LIMIT - 2_000);
  return text(
    `<products>${good}<product><sku>bad</sku><title>${long}</title></product>` +
      "</products>",
  );
}

/**
 * One valid product, and as many refused ones as fit, each with many problems.
 */
function refusedWithProblems(): string {
  const problems = "<colour>x</colour>".repeat(100);
  const bad = Array.from(
    { length: 249 },
    (_, n) => `<product><sku>bad-${n}</sku>${problems}</product>`,
  );
  const good = products("good", 1);
  return good.replace("</products>", `${bad.join("")}</products>`);
}

/** Requests that need no key. */
const PUBLIC = ["/", "/docs", "/docs/api", "/docs/figures", "/openapi.json"];

const transactionOf = (answer: string) =>
  /<transaction_id>(.*?)</.exec(answer)?.[1] ?? "none";
/** Transactions whose status is requested. */
let withLongUrls = "";
let streamed = "";
/** By key, a transaction that can be undone. */
const undone = new Map<string, string>();
/** By key, a transaction with refused products, and one whose images fail. */
const withProblems = new Map<string, string>();
const withFailures = new Map<string, string>();
let refused: Uint8Array;

export const ATTACKS: Readonly<Record<string, Attack>> = {
  "images of empty comments": imaging("comments"),
  "images of nested boxes": imaging("nested", 1, 20),
  "images of noise": imaging("noise", 2, 500),
  "images that drip": imaging("drip", 2, 500),
  "images without an end": imaging("endless", 2, 100),
  "images that hang": imaging("hang", 4, 1_000),
  "images that answer, then drip": imaging("turn", 4, 1_000),
  "compressed images": imaging("bomb", 2, 100),
  "hosts that ignore HEAD": imaging("deaf", 4, 2_500),
  "ETags of 12 KB": imaging("etag", 2, 2_500),
  "headers in pieces": {
    sellers: 2,
    lanes: 4,
    step: (attacker, lane) =>
      attacker.upload(
        withImages(
          `p${attacker.fresh()}`,
          25,
          10,
          () => `${attacker.hosts.piecesUrl}/${attacker.fresh()}.png`,
        ),
        attacker.key(lane),
      ),
  },
  "the neighbour's images": {
    sellers: 2,
    prepare: (attacker) =>
      attacker.upload(
        withImages("own", 250, 10, () => attacker.image("hang")),
      ),
    lanes: 2,
    step: async (attacker, lane) => {
      let n = 0;
      const document = withImages(
        `n${lane}`,
        30,
        10,
        () => `${attacker.neighbour}/honest-${n++}.png`,
      );
      await attacker.upload(document, attacker.key(lane));
      await attacker.rest(200);
    },
  },
  "one image for all rows": {
    sellers: 4,
    hurried: true,
    lanes: 16,
    step: (attacker, lane) =>
      attacker.upload(
        withImages("w", 1, 1, () => `${attacker.hosts.urls[0]}/hang/one.png`),
        attacker.key(lane),
      ),
  },
  "bombs of carriage returns": bombing("\r"),
  "bombs of character references": bombing("&#65;"),
  "bombs of comments": bombing("<!---->"),
  "bombs of CDATA": bombing("<![CDATA[x]]>"),
  "bombs of elements": bombing("<a/>"),
  "bombs of wide characters": bombing("x".repeat(50_000) + "\u20ac"),
  "gzip of a million members": uploading(members, {
    sellers: 4,
    lanes: 8,
    gzip: true,
  }),
  "problems by the thousand": uploading(
    () => text(products("e", 250, () => "<colour>x</colour>".repeat(190))),
    { sellers: 4, lanes: 4 },
  ),
  "deep and wide XML": uploading(deepAndWide, { sellers: 2, lanes: 4 }),
  "maximal products": {
    sellers: 4,
    lanes: 4,
    step: (attacker, lane) =>
      attacker.upload(
        maximal(`m${attacker.fresh()}`, 250),
        attacker.key(lane),
      ),
  },
  "the same upload again": {
    sellers: 4,
    lanes: 8,
    step: (attacker, lane) =>
      attacker.upload(products("same", 250), attacker.key(lane)),
  },
  "readers that do not read": {
    sellers: 1,
    prepare: fillWithMaximal,
    lanes: 40,
    step: async (attacker) => {
      const path = "/seller_api/products?limit=250";
      await attacker.sendAndHold(attacker.request("GET", path));
      await attacker.rest(1_000);
    },
  },
  "readers of long pages": {
    sellers: 1,
    prepare: fillWithMaximal,
    lanes: 40,
    step: (attacker) => attacker.send("GET", "/seller_api/products?limit=250"),
  },
  "a status of long URLs": {
    sellers: 1,
    prepare: async (attacker) => {
      const long = "u".repeat(1_850);
      withLongUrls = transactionOf(
        await attacker.upload(
          withImages(
            "long",
            250,
            10,
            () => attacker.image("hang") + `?${long}`,
          ),
        ),
      );
    },
    lanes: 20,
    step: (attacker) =>
      attacker.send("GET", `/seller_api/bulk_products/${withLongUrls}`),
  },
  "streams that nobody reads": {
    sellers: 4,
    prepare: async (attacker) => {
      streamed = transactionOf(
        await attacker.upload(
          withImages("s", 50, 10, () => attacker.image("hang")),
        ),
      );
    },
    lanes: 64,
    step: async (attacker) => {
      await attacker.sendAndHold(requestBytes(
        "GET",
        `/seller_api/bulk_products/${streamed}`,
        { "X-Service-Auth": attacker.keys[0], "Accept": "text/event-stream" },
      ));
      await attacker.rest(500);
    },
  },
  "searches": {
    sellers: 2,
    prepare: fillWithMaximal,
    lanes: 16,
    step: (attacker) =>
      attacker.send("GET", "/seller_api/products?q=nowhere&limit=250"),
  },
  "slow bodies": {
    sellers: 4,
    lanes: 64,
    step: async (attacker, lane) => {
      const head = requestBytes("POST", "/seller_api/bulk_products", {
        "X-Service-Auth": attacker.key(lane),
        "Content-Type": "text/xml",
      });
      const declared = new TextDecoder().decode(head)
        .replace("Content-Length: 0", "Content-Length: 1000000") + "<";
      await attacker.sendAndHold(text(declared));
      await attacker.rest(5_000);
    },
  },
  "half-sent images": {
    sellers: 4,
    lanes: 1_000,
    step: async (attacker, lane) => {
      const image = jpeg(1_000_000);
      const head = `POST /seller_api/images HTTP/1.1\r\nHost: x\r\n` +
        `X-Service-Auth: ${attacker.key(lane)}\r\n` +
        `Content-Length: ${image.length}\r\n\r\n`;
      const half = image.subarray(0, 100_000);
      await attacker.sendAndHold(new Uint8Array([...text(head), ...half]));
      await attacker.rest(5_000);
    },
  },
  "large images": {
    sellers: 2,
    lanes: 16,
    step: (attacker, lane) => {
      const body = jpeg(LIMIT);
      new DataView(body.buffer).setUint32(LIMIT - 6, attacker.fresh());
      return attacker.send("POST", "/seller_api/images", {
        key: attacker.key(lane),
        body,
      });
    },
  },
  "readers of the handbook that do not read": {
    sellers: 1,
    lanes: 300,
    step: async (attacker) => {
      await attacker.sendAndHold(
        // The longest text that is accepted without a key.
        text("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"),
      );
      await attacker.rest(2_000);
    },
  },
  "undo and redo": {
    sellers: 2,
    prepare: async (attacker) => {
      for (const key of attacker.keys) {
        await attacker.upload(changing(0), key);
        const answer = await attacker.upload(changing(1), key);
        undone.set(key, transactionOf(answer));
      }
    },
    lanes: 2,
    step: async (attacker, lane) => {
      const key = attacker.key(lane);
      const path = `/seller_api/bulk_products/${undone.get(key)}/undo`;
      const answer = await attacker.send("POST", path, { key });
      if (answer.includes("<transaction_id>")) {
        undone.set(key, transactionOf(answer));
      }
    },
  },
  "refused documents": {
    sellers: 4,
    prepare: () => Promise.resolve(refused = mostlyRefused()),
    lanes: 4,
    step: async (attacker, lane) => {
      const key = attacker.key(lane);
      const path = "/seller_api/bulk_products";
      const answer = await attacker.send("POST", `${path}?accept=valid`, {
        key,
        body: refused,
      });
      const own = `${path}/${transactionOf(answer)}/refused`;
      await attacker.sendAndHold(attacker.request("GET", own, key));
    },
  },
  "imports of 50,000 products": {
    sellers: 2,
    delayMs: 100,
    lanes: 2,
    step: async (attacker, lane) => {
      const key = attacker.key(lane);
      const document = products(`i${attacker.fresh()}`, 50_000);
      const answer = await attacker.send("POST", "/seller_api/imports", {
        key,
        body: text(document),
      });
      const [, id = "none"] = /<import_id>(.*?)</.exec(answer) ?? [];
      const path = `/seller_api/imports/${id}?wait=30`;
      await attacker.send("GET", path, { key });
    },
  },
  "results with problems": {
    sellers: 2,
    prepare: async (attacker) => {
      for (const key of attacker.keys) {
        const answer = await attacker.send(
          "POST",
          "/seller_api/bulk_products?accept=valid",
          { key, body: text(refusedWithProblems()) },
        );
        withProblems.set(key, transactionOf(answer));
      }
    },
    lanes: 16,
    step: (attacker, lane) => {
      const key = attacker.key(lane);
      const path = `/seller_api/bulk_products/${withProblems.get(key)}`;
      return attacker.send("GET", path, { key });
    },
  },
  "images that fail, retried": {
    sellers: 2,
    prepare: async (attacker) => {
      for (const key of attacker.keys) {
        const image = () => attacker.image("comments");
        const answer = await attacker.upload(
          withImages("f", 250, 10, image),
          key,
        );
        withFailures.set(key, transactionOf(answer));
      }
    },
    lanes: 4,
    step: (attacker, lane) => {
      const key = attacker.key(lane);
      const path = `/seller_api/bulk_products/${withFailures.get(key)}`;
      return attacker.send("POST", `${path}/images/retry`, { key });
    },
  },
  "dry runs": {
    sellers: 4,
    lanes: 8,
    step: (attacker, lane) =>
      attacker.send("POST", "/seller_api/bulk_products?dry_run=true", {
        key: attacker.key(lane),
        body: text(maximal("dry", 250)),
      }),
  },
  "products that come and go": {
    sellers: 2,
    lanes: 8,
    step: async (attacker, lane) => {
      const key = attacker.key(lane);
      const sku = `g${attacker.fresh()}`;
      await attacker.upload(products(sku, 10), key);
      for (let n = 0; n < 10 && !attacker.over; n++) {
        const path = `/seller_api/products/${sku}-${n}`;
        await attacker.send("DELETE", path, { key });
      }
    },
  },
  "changes of maximal products": {
    sellers: 2,
    prepare: fillWithMaximal,
    lanes: 16,
    step: (attacker, lane) => {
      const path = `/seller_api/products/a-${lane}/attribute/quantity`;
      return attacker.send("PUT", `${path}/${attacker.fresh() % 1_000}`);
    },
  },
  "events, waited for and recovered": {
    sellers: 2,
    hurried: true,
    prepare: async (attacker) => {
      await registerHook(attacker, "order_paid");
      const path = "/seller_api/webhooks/order_paid/test";
      for (let n = 0; n < 50; n++) await attacker.send("POST", path);
    },
    lanes: 32,
    step: (attacker, lane) =>
      lane % 2 === 0
        ? attacker.send("GET", "/seller_api/events?after=0&wait=30")
        : attacker.send(
          "POST",
          "/seller_api/webhooks/order_paid/recover?since=2000-01-01T00:00:00Z",
        ),
  },
  "refusals, made and read": {
    sellers: 2,
    lanes: 16,
    step: (attacker, lane) =>
      lane % 2 === 0
        ? attacker.upload(
          products("r", 50, () => `<${"n".repeat(200)}/>`.repeat(5)),
          attacker.key(lane),
        )
        : attacker.send("GET", "/seller_api/refusals?limit=100", {
          key: attacker.key(lane),
        }),
  },
  "idle connections": {
    sellers: 1,
    lanes: 100,
    step: async (attacker) => {
      await attacker.sendAndHold(text("GET /healthz HTTP/1.1\r\nHost: x\r\n"));
      await attacker.rest(500);
    },
  },
  "replays": {
    sellers: 1,
    hurried: true,
    prepare: async (attacker) => {
      await registerHook(attacker, "order_paid");
      const path = "/seller_api/webhooks/order_paid/test";
      await attacker.send("POST", path);
    },
    lanes: 8,
    step: async (attacker) => {
      const path = "/seller_api/webhooks/order_paid/deliveries";
      const list = await attacker.send("GET", path);
      const id = /<id>(.*?)<\/id>/.exec(list)?.[1];
      if (id === undefined) return await attacker.rest(100);
      for (let n = 0; n < 20 && !attacker.over; n++) {
        await attacker.send("POST", `${path}/${id}/replay`);
      }
    },
  },
  "test events to a hanging endpoint": {
    sellers: 1,
    prepare: (attacker) => registerHook(attacker, "order_created"),
    lanes: 8,
    step: (attacker) =>
      attacker.send("POST", "/seller_api/webhooks/order_created/test"),
  },
  "guessed keys": {
    sellers: 1,
    lanes: 16,
    step: (attacker) =>
      attacker.send("GET", "/seller_api/products", {
        key: `guess-${attacker.fresh()}`,
      }),
  },
  "guesses at the operator's API": {
    sellers: 1,
    lanes: 16,
    step: (attacker) =>
      attacker.send("GET", "/operator_api/sellers", {
        key: `guess-${attacker.fresh()}`,
      }),
  },
  "pages for everyone": {
    sellers: 1,
    lanes: 32,
    step: (attacker, lane) =>
      attacker.send("GET", PUBLIC[lane % PUBLIC.length]),
  },
  "paths that lead nowhere": {
    sellers: 2,
    lanes: 16,
    step: (attacker, lane) => {
      const path = `/seller_api/${"x".repeat(60)}/${attacker.fresh()}/images`;
      return attacker.send("GET", path, { key: attacker.key(lane) });
    },
  },
  "far over the rate": {
    sellers: 2,
    lanes: 16,
    step: (attacker, lane) =>
      attacker.send("GET", "/seller_api/products?limit=250", {
        key: attacker.key(lane),
      }),
  },
};
