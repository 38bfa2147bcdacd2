/**
 * A document as an answer shows it can be sent back: nothing changes. So a
 * program can read a document, change one value of it, and send it.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { SELLER_ATTRIBUTE_NAMES } from "../../src/administration/sellers.ts";
import {
  CATEGORIES_EXAMPLE,
  CONTACT_EXAMPLE,
  MAPPING_EXAMPLE,
  MEANING_EXAMPLE,
  REASONS_EXAMPLE,
} from "../../src/contracts/examples.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { boot, product, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";

type Form = "xml" | "json";

/** A document that is replaced by a request with the same shape. */
interface Replaced {
  /** Where it is read, and where it is sent; by default where it is read. */
  read: string;
  send?: string;
  method?: "POST";
  /** The name of its element, and its list's if only a list has it. */
  root: string;
  list?: string;
  /** Stores it, or stores nothing: then the service's own document is read. */
  example: string | null;
  /** A name that the path does not have; only if the document has a name. */
  isNamed?: true;
}

const UPLOAD = "/seller_api/bulk_products?v=1.1";
const WEBHOOK = `<webhook><trigger>order_paid</trigger>
  <url>http://127.0.0.1:1024/hook</url><format>json</format>
  <disabled_at>2026-11-20T08:00:00Z</disabled_at>
  <failing_since>2026-11-17T08:00:00Z</failing_since>
  <last_error>The answer was 404; only 2xx is a success.</last_error>
</webhook>`;
const MUG = product(
  "MUG-1",
  `<manufacturer>kockums</manufacturer><safety_text>Hot &amp; heavy</safety_text>
   <sale><price>1</price><until>${
    new Date(Date.now() + 9 * DAY_MS).toISOString()
  }</until></sale>`,
);

/** By the routes that replace a document. */
const REPLACED: Readonly<Record<string, readonly Replaced[]>> = {
  "PUT /seller_api/contacts/:name": [{
    read: "/seller_api/contacts/k%C3%B6%2F1",
    root: "contact",
    example: CONTACT_EXAMPLE,
    isNamed: true,
  }],
  "PUT /seller_api/mappings/:name": [{
    read: "/seller_api/mappings/price%20list",
    root: "mapping",
    example: MAPPING_EXAMPLE,
    isNamed: true,
  }],
  "PUT /operator_api/review_reasons": [{
    read: "/operator_api/review_reasons",
    root: "reasons",
    example: REASONS_EXAMPLE.replace(
      "</reasons>",
      "<reason><code>other</code></reason></reasons>",
    ),
  }],
  "PUT /operator_api/categories": [{
    read: "/operator_api/categories",
    root: "categories",
    example: CATEGORIES_EXAMPLE,
  }],
  "PUT /operator_api/triggers/:trigger_name": [{
    read: "/seller_api/triggers",
    send: "/operator_api/triggers/order_paid",
    list: "triggers",
    root: "trigger",
    example: MEANING_EXAMPLE,
    isNamed: true,
  }, {
    read: "/seller_api/triggers",
    send: "/operator_api/triggers/order_created",
    list: "triggers",
    root: "trigger",
    example: null,
    isNamed: true,
  }],
  "POST /seller_api/webhooks": [{
    read: "/seller_api/webhooks",
    send: "/seller_api/webhooks",
    method: "POST",
    root: "webhook",
    example: WEBHOOK,
  }],
};

async function call(
  app: TestApp,
  path: string,
  { form = "xml", method, body }: {
    form?: Form;
    method?: string;
    body?: string;
  },
) {
  const type = form === "json" ? "application/json" : "text/xml";
  const key = path.startsWith("/operator_api") ? "op" : app.key;
  const headers = { Accept: type, "Content-Type": type };
  return await app.call(path, { method, key, body, headers });
}

async function mustCall(...[app, path, call_]: Parameters<typeof call>) {
  const answer = await call(app, path, call_);
  assertEquals(Math.trunc(answer.status / 100), 2, `${path} ${answer.text}`);
  return answer.text;
}

/** The document as the service shows it. */
async function shown(
  app: TestApp,
  form: Form,
  { read, send, root, list }: Replaced,
): Promise<string> {
  const text = await mustCall(app, read, { form });
  const name = send?.split("/").at(-1);
  if (form === "json") {
    const answer = JSON.parse(text);
    // The body of a whole list is its array below its name.
    if (root === "reasons") return JSON.stringify(answer);
    const found = [answer[list ?? root]].flat();
    return JSON.stringify(
      found.find((each) => each.name === name) ?? found[0],
    );
  }
  const all = [...text.matchAll(new RegExp(`<${root}[ >].*?</${root}>`, "gs"))]
    .map(([each]) => each);
  return all.find((each) => each.includes(`<name>${name}<`)) ?? all[0]!;
}

bothEngines.test("a document that is sent as it was read changes nothing", async (t) => {
  await using app = await boot({
    config: { operatorKey: "op", rateLimit: 0 },
  });
  for (const documents of Object.values(REPLACED)) {
    for (const document of documents) {
      const { read, send = read, method = "PUT", example, isNamed } = document;
      if (example !== null) {
        await mustCall(app, send, { method, body: example });
      }
      for (const form of ["xml", "json"] as const) {
        await t.step(`${method} ${send} ${form}`, async () => {
          const body = await shown(app, form, document);
          await mustCall(app, send, { form, method, body });
          assertEquals(await shown(app, form, document), body);
          if (!isNamed) return;
          const renamed = form === "xml"
            ? body.replace(/<name>[^<]*/, "<name>another")
            : body.replace(/"name":"[^"]*/, '"name":"another');
          const refused = await call(app, send, {
            form,
            method,
            body: renamed,
          });
          assertEquals(refused.status, 422);
          assertMatch(refused.text, /another.*send the name of the path/);
          assertEquals(await shown(app, form, document), body);
        });
      }
    }
  }
});

Deno.test("a value that only the service sets is a text", async () => {
  await using app = await boot({ config: { rateLimit: 0 } });
  const put = (form: Form, time: string) =>
    call(app, "/seller_api/contacts/kockums", {
      form,
      method: "PUT",
      body: form === "xml"
        ? CONTACT_EXAMPLE.replace(
          "</contact>",
          `<updated_at>${time}</updated_at></contact>`,
        )
        : `{"company": "Kockums", "street": "Bruksgatan 3", "city": "Ronneby",
            "country": "SE", "email": "a@b.example", "updated_at": ${time}}`,
    });
  for (const time of ['["2026-11-20"]', '{"at": "2026-11-20"}', "5"]) {
    const { status, text } = await put("json", time);
    assertEquals(status, 422, time);
    assertMatch(text, /updated_at is .*; it must be a string/);
  }
  const { status, text } = await put("xml", "<at>2026-11-20</at>");
  assertEquals(status, 422);
  assertMatch(text, /&lt;updated_at&gt; contains only text/);
  for (const time of ['"2026-11-20T08:00:00Z"', "null"]) {
    assertEquals((await put("json", time)).status, 200, time);
  }
});

bothEngines.test("the values of a seller that are sent as they were read change nothing", async () => {
  await using app = await boot({
    config: { operatorKey: "op", rateLimit: 0 },
  });
  const path = "/operator_api/sellers/acme/attribute";
  const read = async () => {
    const text = await mustCall(app, "/operator_api/sellers", { form: "json" });
    return JSON.parse(text).sellers[0];
  };
  await mustCall(app, `${path}/rate_limit/700`, { method: "PUT" });
  await mustCall(app, `${path}/email/a@seller.example`, { method: "PUT" });
  await mustCall(app, `${path}/review/new`, { method: "PUT" });
  const before = await read();
  for (const name of SELLER_ATTRIBUTE_NAMES) {
    const value = encodeURIComponent(before[name] ?? "");
    await mustCall(app, `${path}/${name}/${value}`, { method: "PUT" });
  }
  assertEquals(await read(), before);
});

bothEngines.test("a product that is uploaded as it was read does not change", async () => {
  await using app = await boot({ config: { rateLimit: 0 } });
  await mustCall(app, "/seller_api/contacts/kockums", {
    method: "PUT",
    body: CONTACT_EXAMPLE,
  });
  await mustCall(app, UPLOAD, {
    method: "POST",
    body: `<products>${MUG}</products>`,
  });
  const read = (form: Form) =>
    mustCall(app, "/seller_api/products/MUG-1", { form });
  const before = await read("json");
  assertMatch(before, /"current_price".*"amount":"1"/);
  const xml = await read("xml");
  const [mug] = /<product .*<\/product>/s.exec(xml)!;
  await mustCall(app, UPLOAD, {
    method: "POST",
    body: `<products>${mug}</products>`,
  });
  assertEquals(await read("json"), before);
  await mustCall(app, UPLOAD, {
    form: "json",
    method: "POST",
    body: JSON.stringify({ products: [JSON.parse(before).product] }),
  });
  assertEquals(await read("json"), before);
});

Deno.test("every document that replaces another is sent back by a test", () => {
  const replacing = ROUTES.filter(({ method, documentation }) =>
    method === "PUT" && documentation?.sends !== undefined
  ).map(({ method, path }) => `${method} ${path}`);
  assertEquals(
    replacing.filter((route) => !(route in REPLACED)),
    [],
    "add it to the documents of this file",
  );
});
