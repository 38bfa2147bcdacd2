/** Generated requests to the running service, and rules that answers follow. */
import { assert, assertEquals } from "@std/assert";
import { XmlDocument } from "libxml2-wasm";
import { gzipSync } from "node:zlib";
import { ROUTES } from "../../src/http/routes.ts";
import { findBySkuOrId } from "../../src/catalogue/product_rows.ts";
import { boot, product, type TestApp } from "../support/app.ts";
import type { Random } from "../support/random.ts";
import { raw, statusesOf, statusOf } from "../support/raw.ts";
import {
  generateDocument,
  generateText,
  mutate,
  pick,
  spell,
} from "./documents.ts";

const JSON_TYPE = "application/json";
/** An answer that takes longer is a hang. */
const ANSWER_MS = 20_000;

const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];
/** Requests that change something are four times as frequent. */
const TARGETS = ROUTES.flatMap((route) =>
  route.method === "GET" ? [route] : [route, route, route, route]
);
const SEGMENTS = [
  "FUZZ",
  "brand",
  "price",
  "quantity",
  "__proto__",
  "%00",
  "%2e%2e",
  "%2F",
  "%",
  "%C0%AF",
  "%ED%A0%80",
  "%EF%BF%BF",
  "%F0%9F%98%80",
  "'%20OR%201=1--",
  "order_created",
  "0193d2a0-0000-7000-8000-000000000000",
  "1e999",
  "-1",
  "99999999999999999999",
  "x".repeat(2_000),
];
const QUERIES = [
  "v=1.1",
  "v=",
  "v=2",
  "v=1.1&v=1.0",
  "dry_run=true",
  "dry_run=",
  "wait=0",
  "wait=-1",
  "wait=1e3",
  "limit=0",
  "limit=99999999999999999999",
  "limit=5",
  "after=AAAA",
  "after=%00",
  "after=%FF",
  "%",
  "&&=&",
  "__proto__=1",
];
const HEADERS: readonly (readonly [string, string])[] = [
  ["Idempotency-Key", "k"],
  ["Idempotency-Key", ""],
  ["Idempotency-Key", "\u00ff".repeat(300)],
  ["Content-Type", "text/xml; charset=utf-16"],
  ["Content-Type", 'text/xml;;;=;charset="utf-8'],
  ["Content-Type", "application/xml"],
  ["Content-Encoding", "gzip"],
  ["Content-Encoding", "gzip, gzip"],
  ["Content-Encoding", "br"],
  ["Accept", "text/event-stream;q=0.0001, */*;q=abc"],
  ["Accept", ",;=".repeat(500)],
  ["Accept", "application/json"],
  ["Accept", "text/event-stream, application/json;q=0.9"],
  ["If-None-Match", '*, "x", W/"'],
  ["Range", "bytes=0-,-1,9-2"],
  ["Expect", "100-continue"],
  ["X-Request-Id", "x".repeat(5_000)],
  ["X-Forwarded-For", "::1, 127.0.0.1, %"],
  ["X-HTTP-Method-Override", "DELETE"],
];

/** A running service with one product, `FUZZ`. */
export async function bootForFuzz(): Promise<TestApp> {
  const app = await boot({ config: { operatorKey: "operator-key" } });
  const answer = await app.upload(product("FUZZ"));
  assertEquals(answer.status, 200, answer.text);
  app.log.length = 0;
  return app;
}

/** A request for one of the routes, or for a path that is nearly one. */
function generateTarget(random: Random): { method: string; path: string } {
  const route = pick(random, TARGETS);
  const method = random.below(6) === 0 ? pick(random, METHODS) : route.method;
  const path = route.path.replaceAll(
    /:\w+\??/g,
    () =>
      random.below(3) === 0
        ? encodeURIComponent(generateText(random, 10))
        : pick(random, SEGMENTS),
  );
  const more = random.below(10) === 0 ? `/${pick(random, SEGMENTS)}` : "";
  const query = Array.from(
    { length: random.below(3) },
    () => pick(random, QUERIES),
  );
  const mark = query.length === 0 ? "" : "?";
  return { method, path: path + more + mark + query.join("&") };
}

const DOCUMENTS: readonly ((random: Random) => string)[] = [
  (random) => generateDocument(random).xml,
  (random) =>
    "<webhook><trigger>order_created</trigger><url>http://127.0.0.1:1025/" +
    `${spell(random, encodeURI(generateText(random)))}</url></webhook>`,
  (random) =>
    "<event><seller>acme</seller><trigger>order_paid</trigger><reference>" +
    `${spell(random, generateText(random))}</reference><data><a>` +
    `${spell(random, generateText(random))}</a></data></event>`,
];

const NAMES = [
  "products",
  "sku",
  "price",
  "amount",
  "quantity",
  "value",
  "images",
  "url",
  "attributes",
  "name",
  "data",
  "#text",
  "__proto__",
];
const NUMBERS = [0, -1, 5, 1.5, 1e21, 2 ** 53, Number.MIN_VALUE];

/** A value whose objects have names of documents. */
function generateValue(random: Random, depth = 0): unknown {
  const many = <T>(one: () => T): T[] =>
    Array.from({ length: random.below(6) }, one);
  const value = () => generateValue(random, depth + 1);
  switch (random.below(depth > 4 ? 3 : 5)) {
    case 0:
      return pick(random, [null, true, false, "FUZZ"]);
    case 1:
      return pick(random, NUMBERS);
    case 2:
      return generateText(random);
    case 3:
      return many(value);
    default:
      return Object.fromEntries(many(() => [pick(random, NAMES), value()]));
  }
}

const IN_JSON: readonly ((random: Random) => unknown)[] = [
  (random) => ({
    products: Array.from(
      { length: random.below(4) },
      () => ({ sku: "FUZZ", [pick(random, NAMES)]: generateValue(random) }),
    ),
  }),
  (random) => ({
    trigger: "order_created",
    url: `http://127.0.0.1:1025/${generateText(random)}`,
    format: "json",
  }),
  (random) => ({
    seller: "acme",
    trigger: "order_paid",
    reference: generateText(random),
    data: generateValue(random),
  }),
  generateValue,
];

function generateBody(
  random: Random,
  type: string,
): Uint8Array<ArrayBuffer> {
  const made = type === JSON_TYPE
    ? JSON.stringify(pick(random, IN_JSON)(random))
    : pick(random, DOCUMENTS)(random);
  const document = new TextEncoder().encode(made);
  const body = random.below(2) === 0 ? document : mutate(random, document);
  if (random.below(3) > 0) return body;
  const packed = new Uint8Array(gzipSync(body));
  return random.below(2) === 0 ? packed : mutate(random, packed);
}

/** A request by `fetch` gets a well-formed answer, and causes no failure. */
export async function checkRequest(
  app: TestApp,
  random: Random,
): Promise<void> {
  const { method, path } = generateTarget(random);
  const sent = pick(random, ["text/xml", JSON_TYPE]);
  const headers = new Headers({
    "X-Service-Auth": path.startsWith("/operator_api")
      ? "operator-key"
      : app.key,
    "Content-Type": sent,
  });
  for (let n = random.below(3); n > 0; n--) {
    headers.set(...pick(random, HEADERS) as [string, string]);
  }
  const label = `${method} ${path} ${JSON.stringify([...headers])}`;
  const response = await fetch(app.url + path, {
    method,
    headers,
    body: method === "GET" || method === "HEAD"
      ? undefined
      : generateBody(random, sent),
    redirect: "manual",
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const text = await response.text();
  assert(response.status < 500, `${response.status} ${label} ${text}`);
  const type = response.headers.get("content-type") ?? "";
  if (text !== "" && type.startsWith("text/xml")) {
    XmlDocument.fromString(text).dispose();
  }
  if (text !== "" && type === JSON_TYPE) JSON.parse(text);
}

/** An attribute's new value is stored unchanged, or refused. */
export async function checkAttribute(
  app: TestApp,
  random: Random,
): Promise<void> {
  const text = generateText(random, 40);
  const value = text.trim();
  const answer = await raw(
    app.url,
    `PUT /seller_api/products/FUZZ/attribute/mpn/${encodeURIComponent(text)} ` +
      `HTTP/1.1\r\nHost: x\r\nX-Service-Auth: ${app.key}\r\n` +
      "Connection: close\r\n\r\n",
  );
  const isLine = !/\p{Cc}/u.test(value) && [...value].length <= 70;
  assertEquals(statusOf(answer), isLine ? 204 : 422, JSON.stringify(text));
  if (!isLine) return;
  const found = await app.app.db.read((sql) =>
    findBySkuOrId(sql, app.sellerNo, "FUZZ")
  );
  assertEquals(found!.mpn, value === "" ? null : value);
}

/** A mutated request is refused or answered, and causes no failure. */
export async function checkBytes(app: TestApp, random: Random): Promise<void> {
  const type = pick(random, ["text/xml", JSON_TYPE]);
  const body = generateBody(random, type);
  const { method, path } = generateTarget(random);
  const head = new TextEncoder().encode(
    `${method} ${path} HTTP/1.1\r\nHost: x\r\n` +
      `X-Service-Auth: ${app.key}\r\nContent-Type: ${type}\r\n` +
      (random.below(2) === 0
        ? `Content-Length: ${body.length}\r\n\r\n`
        : `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n`),
  );
  const request = Uint8Array.from([...mutate(random, head), ...body]);
  const statuses = await statusesOf(app.url, request, 20);
  assert(
    statuses.every((status) => status < 500),
    `${statuses} ${new TextDecoder().decode(request)}`,
  );
}

export const REQUEST_CHECKS = [checkRequest, checkAttribute, checkBytes];
