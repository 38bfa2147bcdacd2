/**
 * The largest inputs of each route: those with the largest answers, and the
 * largest that it accepts. A test compares the table with the routes.
 */
import {
  CONTACT_EXAMPLE,
  EVENT_EXAMPLE,
  MAPPING_EXAMPLE,
  MEANING_EXAMPLE,
  REASONS_EXAMPLE,
} from "../../src/contracts/examples.ts";
import { picture } from "../../src/sandbox/pictures.ts";
import { ROUTES } from "../../src/http/routes.ts";
import type { Route } from "../../src/http/server/route.ts";
import { products } from "./attacker.ts";
import type { Stage } from "./stage.ts";

/** A request; `n` is different for each. */
export interface Input {
  what: string;
  path: (stage: Stage, n: number) => string;
  body?: (stage: Stage, n: number) => string | Uint8Array<ArrayBuffer>;
  accept?: string;
  /**
   * The status of its answers, except of requests that are refused because too
   * many are sent at once.
   */
  status?: number;
}

type Inputs = readonly [Input, ...Input[]];

const LONG = "x".repeat(5_000);

/** A JPEG of this length; `n` makes it another file. */
function jpeg(n: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  bytes.set(picture("a.jpg")!);
  new DataView(bytes.buffer).setUint32(length - 6, n);
  bytes.set([0xff, 0xd9], length - 2);
  return bytes;
}

/** One request to this path. */
const at = (
  path: Input["path"] | string,
  more: Partial<Input> = {},
): Input => ({
  what: "alone",
  path: typeof path === "string" ? () => path : path,
  ...more,
});

/** The same for a path below the seller's API. */
const of = (path: Input["path"] | string, more: Partial<Input> = {}): Input => {
  const { path: below, ...input } = at(path, more);
  return { ...input, path: (stage, n) => `/seller_api${below(stage, n)}` };
};

const streamed = { what: "as events", accept: "text/event-stream" };
const longest = (path: Input["path"] | string) =>
  of(path, { what: "the longest page" });

/** 10,000 stored products, each with a different quantity. */
const quantities = (_: Stage, n: number) => {
  const rows = Array.from(
    { length: 10_000 },
    (_, i) => `<product><sku>s-${i}</sku><quantity>${n}</quantity></product>`,
  );
  return `<products>${rows.join("")}</products>`;
};

const maximal = (_: Stage, n: number) =>
  products(`new-${n}`, 250, () => `<description>${LONG}</description>`);

const wrong = (_: Stage, n: number) =>
  products(`w-${n}`, 250, () => "<colour>x</colour>".repeat(100));

const RULED = [1, 2, 3, 4, 5].map((n) => `Ruled ${n}`);
const RULES = 100;
const VALUES = 1_000;

/** As many rules and values as categories may have, of five categories. */
export function ruledCategories(): string {
  const value = Array.from({ length: VALUES }, (_, n) => `v${n}`);
  const rule = Array.from(
    { length: RULES },
    (_, n) => ({ attribute: `a${n}`, required: true, value }),
  );
  return JSON.stringify({
    category: RULED.map((name) => ({ name, rule })),
  });
}

/** Categories with all rules, and attributes with a value of each rule. */
function ruled(valueOf: (rule: number) => string): string {
  const categories = RULED.map((name) => `<category>${name}</category>`);
  const attributes = Array.from(
    { length: RULES },
    (_, n) => `<attribute name="a${n}">${valueOf(n)}</attribute>`,
  );
  return `<categories>${categories.join("")}</categories>` +
    `<attributes>${attributes.join("")}</attributes>`;
}

const satisfying = (_: Stage, n: number) =>
  products(`ruled-${n}`, 250, (i) => ruled((rule) => `v${i + rule}`));

const breaking = (_: Stage, n: number) =>
  products(`ruled-${n}`, 250, (i) => ruled((rule) => `w${i}${rule}`));

const inOperatorsApi = (path: string, more: Partial<Input> = {}) =>
  at(`/operator_api${path}`, more);

const SELLER_INPUTS: Readonly<Record<string, Inputs>> = {
  "POST /seller_api/bulk_products": [
    of("/bulk_products?v=1.1", { what: "250 long products", body: maximal }),
    of("/bulk_products?v=1.1&dry_run=true", {
      what: "a dry run",
      body: maximal,
    }),
    of("/bulk_products?v=1.1&accept=valid", {
      what: "25,000 problems",
      body: wrong,
    }),
    of("/bulk_products?v=1.1&dry_run=true", {
      what: "250 products that satisfy 500 rules of 1,000 values",
      body: satisfying,
    }),
    of("/bulk_products?v=1.1&dry_run=true", {
      what: "250 products that break 500 rules of 1,000 values",
      body: breaking,
    }),
  ],
  "GET /seller_api/bulk_products/:transaction_id": [
    of(({ ids }) => `/bulk_products/${ids.bulk}`, { what: "10,000 results" }),
    of(({ ids }) => `/bulk_products/${ids.bulk}?after=9000`, {
      what: "the end of 10,000 results",
    }),
    of(({ ids }) => `/bulk_products/${ids.refused}`, {
      what: "25,000 problems",
    }),
    of(({ ids }) => `/bulk_products/${ids.bulk}`, streamed),
  ],
  "GET /seller_api/bulk_products/:transaction_id/refused": [
    of(({ ids }) => `/bulk_products/${ids.refused}/refused`),
  ],
  "GET /seller_api/bulk_products": [longest("/bulk_products?limit=250")],
  "POST /seller_api/bulk_products/:transaction_id/images/retry": [
    of(({ ids }) => `/bulk_products/${ids.bulk}/images/retry`),
  ],
  "POST /seller_api/bulk_products/:transaction_id/undo": [
    of(({ ids }) => `/bulk_products/${ids.bulk}/undo?dry_run=true`, {
      what: "a dry run of 10,000",
    }),
    of(({ ids }) => `/bulk_products/${ids.bulk}/undo`, {
      what: "10,000 products",
    }),
  ],
  "POST /seller_api/bulk_attributes": [
    of("/bulk_attributes?v=1.1&dry_run=true", {
      what: "a dry run of 10,000",
      body: quantities,
    }),
    of("/bulk_attributes?v=1.1", {
      what: "10,000 products",
      body: quantities,
    }),
    of("/bulk_attributes?v=1.1&complete=quantity&at_most=100&dry_run=true", {
      what: "a dry run of one, and none of the others",
      body: () => "<products><product><sku>s-1</sku></product></products>",
    }),
  ],
  "POST /seller_api/images": [
    of("/images", { what: "small", body: (_, n) => jpeg(n, 1_000) }),
    of("/images", {
      what: "the largest",
      body: (_, n) => jpeg(n, 16 * 1_024 * 1_024),
    }),
  ],
  "POST /seller_api/imports": [
    of("/imports?v=1.1&dry_run=true", {
      what: "2,500 products",
      body: (_, n) => products(`i-${n}`, 2_500),
    }),
  ],
  "GET /seller_api/imports": [longest("/imports?limit=250")],
  "GET /seller_api/imports/:import_id": [
    of(({ ids }) => `/imports/${ids.refusedImport}`, {
      what: "5,000 problems",
    }),
    of(({ ids }) => `/imports/${ids.import}`, streamed),
  ],
  "GET /seller_api/imports/:import_id/results": [
    longest(({ ids }) => `/imports/${ids.import}/results?limit=250`),
    of(
      ({ ids }) => `/imports/${ids.import}/results?limit=250&result=refused`,
      { what: "none of 10,000" },
    ),
  ],
  "GET /seller_api/imports/:import_id/refused": [
    of(({ ids }) => `/imports/${ids.refusedImport}/refused`),
  ],
  "DELETE /seller_api/imports/:import_id": [
    of(({ ids }) => `/imports/${ids.import}`),
  ],
  "POST /seller_api/imports/:import_id/images/retry": [
    of(({ ids }) => `/imports/${ids.longImport}/images/retry`),
  ],
  "POST /seller_api/imports/:import_id/store": [
    of(({ ids }) => `/imports/${ids.longImport}/store`, {
      what: "one that is no dry run",
    }),
  ],
  "POST /seller_api/imports/:import_id/undo": [
    of(({ ids }) => `/imports/${ids.longImport}/undo?dry_run=true`, {
      what: "200 parts",
    }),
  ],
  "PUT /seller_api/products/:sku_or_id/attribute/:attribute/:value": [
    of((_, n) => `/products/s-${n}/attribute/quantity/${n}`),
    of((_, n) => `/products/m-a-${n % 62}/attribute/quantity/${n}`, {
      what: "a long product",
    }),
  ],
  "GET /seller_api/products": [
    longest("/products?limit=250"),
    of("/products?limit=250&q=nowhere", { what: "a search in vain" }),
    of("/products?limit=250&review=rejected", { what: "none rejected" }),
    of("/products?limit=250&gtin=4006381333931&q=nowhere", {
      what: "a search in one GTIN",
    }),
  ],
  "GET /seller_api/products/rejected": [
    longest("/products/rejected"),
  ],
  "GET /seller_api/products/:sku_or_id": [of("/products/m-a-1")],
  "GET /seller_api/products/:sku_or_id/history": [
    longest("/products/s-1/history?attribute=price"),
  ],
  "DELETE /seller_api/products/:sku_or_id": [
    of((_, n) => `/products/s-${9_999 - n}`),
  ],
  "POST /seller_api/webhooks": [
    of("/webhooks", {
      body: ({ hook }) =>
        `<webhook><trigger>order_paid</trigger><url>${hook}</url></webhook>`,
    }),
  ],
  "GET /seller_api/webhooks": [of("/webhooks")],
  "DELETE /seller_api/webhooks/:trigger": [of("/webhooks/product_approved")],
  "POST /seller_api/webhooks/:trigger/test": [of("/webhooks/order_paid/test")],
  "POST /seller_api/webhooks/:trigger/recover": [
    of("/webhooks/order_paid/recover?since=2000-01-01T00:00:00Z"),
  ],
  "POST /seller_api/webhooks/:trigger/rotate_secret": [
    of("/webhooks/order_paid/rotate_secret"),
  ],
  "GET /seller_api/webhooks/:trigger/deliveries": [
    longest("/webhooks/order_paid/deliveries?limit=250"),
    of("/webhooks/order_paid/deliveries?reference=absent", {
      what: "of an absent reference",
    }),
  ],
  "POST /seller_api/webhooks/:trigger/deliveries/:id/replay": [
    of(({ ids }) => `/webhooks/order_paid/deliveries/${ids.unknown}/replay`),
  ],
  "GET /seller_api/events": [
    longest("/events?limit=250"),
    of("/events?limit=250&reference=absent", { what: "an absent reference" }),
  ],
  "GET /seller_api/triggers": [of("/triggers")],
  "GET /seller_api/categories": [
    of("/categories?limit=250"),
    of("/categories?q=absent", { what: "an absent name" }),
  ],
  "GET /seller_api/categories/:category": [of("/categories/Category%201")],
  "GET /seller_api/contacts": [longest("/contacts?limit=250")],
  "GET /seller_api/contacts/:name": [of("/contacts/c-1")],
  "PUT /seller_api/contacts/:name": [
    of((_, n) => `/contacts/c-${n % 1_000}`, {
      body: (_, n) => LONG_CONTACT.replace("<city>", `<city>${n} `),
    }),
  ],
  "DELETE /seller_api/contacts/:name": [
    of((_, n) => `/contacts/c-${n % 1_000}`),
  ],
  "GET /seller_api/mappings": [of("/mappings")],
  "GET /seller_api/mappings/:name": [of("/mappings/m-1")],
  "PUT /seller_api/mappings/:name": [
    of((_, n) => `/mappings/m-${n % 40}`, { body: () => LONG_MAPPING }),
  ],
  "DELETE /seller_api/mappings/:name": [of((_, n) => `/mappings/m-${n % 40}`)],
  "GET /seller_api/keys": [of("/keys")],
  "POST /seller_api/keys": [
    of("/keys", { body: (_, n) => `<key><label>more ${n}</label></key>` }),
  ],
  "DELETE /seller_api/keys/:key_id": [
    of(({ ids }) => `/keys/${ids.unknown}`),
  ],
  "POST /seller_api/keys/:key_id/rotate": [
    of(({ ids }) => `/keys/${ids.unknown}/rotate`),
  ],
  "GET /seller_api/refusals": [longest("/refusals?limit=250")],
  "GET /seller_api/account": [of("/account")],
};

const OTHER_INPUTS: Readonly<Record<string, Inputs>> = {
  "POST /operator_api/events": [
    inOperatorsApi("/events", {
      body: (_, n) =>
        EVENT_EXAMPLE.replace(
          /<reference>.*?<\/reference>/,
          `<reference>more-${n}</reference>`,
        ).replace(/<seller>.*?<\/seller>/, "<seller>bad</seller>"),
    }),
  ],
  "GET /operator_api/products": [inOperatorsApi("/products?limit=250")],
  "GET /operator_api/contacts": [inOperatorsApi("/contacts?limit=250")],
  "GET /operator_api/sellers": [inOperatorsApi("/sellers?limit=250")],
  "POST /operator_api/sellers": [
    inOperatorsApi("/sellers", {
      body: (_, n) => `<seller><name>more-${n}</name></seller>`,
    }),
  ],
  "PUT /operator_api/sellers/:seller/attribute/:seller_attribute/:value": [
    at((_, n) =>
      `/operator_api/sellers/bad/attribute/product_limit/${99_999 + n}`
    ),
  ],
  "DELETE /operator_api/sellers/:seller": [
    at((_, n) => `/operator_api/sellers/more-${n}`),
  ],
  "GET /operator_api/sellers/:seller/keys": [
    inOperatorsApi("/sellers/bad/keys"),
  ],
  "POST /operator_api/sellers/:seller/keys": [
    inOperatorsApi("/sellers/bad/keys", {
      body: (_, n) => `<key><label>theirs ${n}</label></key>`,
    }),
  ],
  "DELETE /operator_api/keys/:key_id": [
    at(({ ids }) => `/operator_api/keys/${ids.unknown}`),
  ],
  "POST /operator_api/sellers/:seller/rotate_secret": [
    inOperatorsApi("/sellers/bad/rotate_secret"),
  ],
  "GET /operator_api/sellers/:seller/deliveries": [
    inOperatorsApi("/sellers/bad/deliveries?limit=250"),
  ],
  "GET /operator_api/reviews": [
    inOperatorsApi("/reviews?state=pending&limit=250"),
  ],
  "POST /operator_api/reviews": [
    inOperatorsApi("/reviews", {
      what: "250 unknown products",
      body: ({ ids }) =>
        `<reviews>${
          `<review><product>${ids.unknown}</product><decision>approved</decision></review>`
            .repeat(250)
        }</reviews>`,
    }),
  ],
  "GET /operator_api/review_reasons": [inOperatorsApi("/review_reasons")],
  "PUT /operator_api/review_reasons": [
    inOperatorsApi("/review_reasons", { body: () => REASONS_EXAMPLE }),
  ],
  "GET /operator_api/categories": [inOperatorsApi("/categories?limit=250")],
  "PUT /operator_api/categories": [
    inOperatorsApi("/categories", {
      what: "10,000 categories",
      body: () =>
        `<categories>${
          Array.from(
            { length: 10_000 },
            (_, n) =>
              `<category name="Category ${n}"><rule field="gtin" required="true" from="2099-01-01"/></category>`,
          ).join("")
        }</categories>`,
    }),
  ],
  "PUT /operator_api/triggers/:trigger_name": [
    inOperatorsApi("/triggers/order_paid", { body: () => MEANING_EXAMPLE }),
  ],
  "GET /operator_api/refusals": [inOperatorsApi("/refusals?limit=250")],
  "GET /operator_api/audit": [inOperatorsApi("/audit?limit=250")],
  "GET /operator_api/status": [inOperatorsApi("/status")],
  "GET /operator_api/database": [inOperatorsApi("/database")],
  "GET /metrics": [at("/metrics")],
  "GET /healthz": [at("/healthz")],
  "GET /readyz": [at("/readyz")],
  "GET /images/:folder/:file": [at(`/images/00/${"0".repeat(64)}.png`)],
  "GET /seller_api/schemas/products-1.1.xsd": [
    of("/schemas/products-1.1.xsd"),
  ],
  "GET /seller_api/schemas/attributes-1.1.xsd": [
    of("/schemas/attributes-1.1.xsd"),
  ],
  "GET /seller_api/schemas/responses-1.1.xsd": [
    of("/schemas/responses-1.1.xsd"),
  ],
  "GET /openapi.json": [at("/openapi.json")],
  "GET /docs": [at("/docs")],
  "GET /docs/:chapter": [at("/docs/api"), at("/docs/figures")],
  "GET /docs/files/:file": [at("/docs/files/unknown")],
  "GET /llms.txt": [at("/llms.txt")],
  "GET /": [at("/")],
  "GET /assets/:version/:name": [at("/assets/unknown/page.js")],
  "GET /docs.css": [at("/docs.css")],
  "GET /notices/:seller/:signature": [at("/notices/unknown/unknown")],
  "POST /notices/:seller/:signature": [at("/notices/unknown/unknown")],
  "POST /notices/:seller/:signature/again": [
    at("/notices/unknown/unknown/again"),
  ],
  "GET /.well-known/security.txt": [at("/.well-known/security.txt")],
};

/** A contact with long texts, of which one is short. */
export const LONG_CONTACT = CONTACT_EXAMPLE
  .replace(/<company>[^<]*/, `<company>${"\u{1F600}".repeat(200)}`)
  .replace(
    "</contact>",
    `<url>https://example.com/${"u".repeat(1_900)}</url></contact>`,
  );

/** A mapping of 30 KB. */
export const LONG_MAPPING = MAPPING_EXAMPLE.replace(
  /<columns>[^]*<\/columns>/,
  `<columns>${
    Array.from(
      { length: 400 },
      (_, n) => `<column field="">column ${n}</column>`,
    ).join("")
  }</columns>`,
);

/** The name of a route in the table. */
export const nameOf = ({ method, path }: Pick<Route, "method" | "path">) =>
  `${method} ${path}`;

const VIEW = "/operator_api/sellers/:seller/seller_api/";

/** A request of a view, sent by the operator. */
const viewed = (input: Input): Input => ({
  ...input,
  path: (stage, n) => `/operator_api/sellers/bad${input.path(stage, n)}`,
});

/**
 * By the name of the route; a view has the inputs of the route that it shows.
 */
export const ROUTE_INPUTS: Readonly<Record<string, readonly Input[]>> = {
  ...SELLER_INPUTS,
  ...OTHER_INPUTS,
  ...Object.fromEntries(
    ROUTES.filter(({ path }) => path.startsWith(VIEW)).map((route) => {
      const path = route.path.replace("/operator_api/sellers/:seller", "");
      const inputs = SELLER_INPUTS[nameOf({ ...route, path })] ?? [];
      return [nameOf(route), inputs.map(viewed)];
    }),
  ),
};
