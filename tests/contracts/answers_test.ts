/**
 * Every kind of answer is valid XML for other parsers: libxml2 as a module, and
 * its command xmllint if it is installed.
 */
import { assert, assertEquals } from "@std/assert";
import { XmlDocument } from "libxml2-wasm";
import { systemDeps } from "../../src/deps.ts";
import { ERRORS } from "../../src/lib/errors.ts";
import { addOperatorKey } from "../../src/sellers/operator_keys.ts";
import {
  type Answer,
  boot,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { passing, TestClock, until } from "../support/clock.ts";
import { Host } from "../support/host.ts";
import { raw } from "../support/raw.ts";

/** Bodies by request; each was parsed once already. */
type Bodies = Map<string, string>;

const NAMESPACE = 'xmlns:x="urn:x"';
/** Text as sent, with what an answer must escape or may get wrong. */
const NAUGHTY = "]]&gt; &amp;lt; &lt;/brand&gt; \u2028\u{1F600}\u202e' &quot;";

function check(bodies: Bodies, name: string, body: string): void {
  using document = XmlDocument.fromString(body);
  assertEquals(document.root.name, "service", name);
  assert(body.startsWith('<?xml version="1.0" encoding="UTF-8"?>'), name);
  bodies.set(name, body);
}

function keep(bodies: Bodies, name: string, answer: Answer): Answer {
  const type = answer.headers.get("content-type");
  assertEquals(type, "text/xml; charset=utf-8", name);
  check(bodies, `${name}, ${answer.status}`, answer.text);
  return answer;
}

/** `xmllint --noout` on all of them; does nothing without the command. */
async function lint(bodies: Bodies): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const files = [...bodies.values()].map((body, i) => {
      Deno.writeTextFileSync(`${folder}/${i}.xml`, body);
      return `${folder}/${i}.xml`;
    });
    const command = new Deno.Command("xmllint", {
      args: ["--noout", "--nonet", ...files],
      stderr: "piped",
    });
    const { stderr } = await command.output();
    assertEquals(new TextDecoder().decode(stderr), "");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    console.log("not tried: there is no xmllint");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function askForSuccess(app: TestApp, host: Host, bodies: Bodies) {
  const ask = async (
    name: string,
    path: string,
    call: Parameters<TestApp["call"]>[1] = {},
  ) => keep(bodies, name, await app.call(path, call));
  const images = ["good", "bad?a=1&amp;b=%3C"].map((path) =>
    `<image alt="${NAUGHTY}">${host.url}/${path}</image>`
  );
  const naughty = product(
    "A&amp;&lt;",
    `<brand>${NAUGHTY}</brand>` +
      `<description>${NAUGHTY}\u0085&#13;&#10;</description>` +
      `<images>${images.join("")}</images>`,
  );
  keep(bodies, "dry run", await app.upload(naughty, "&dry_run=true"));
  const uploaded = keep(bodies, "upload", await app.upload(naughty));
  const id = uploaded.text.match(/<transaction_id>(.*?)<\//)![1];
  const transaction = `/seller_api/bulk_products/${id}`;
  await ask("status", transaction);
  const events = await app.call(transaction, {
    headers: { Accept: "text/event-stream" },
  });
  const data = [...events.text.matchAll(/^data: (.*)$/gm)];
  assert(data.length > 0);
  for (const [, xml] of data) XmlDocument.fromString(xml).dispose();
  await ask("status of a failed image", `${transaction}?wait=20`);
  await ask("retry", `${transaction}/images/retry`, { method: "POST" });
  await ask("transactions", "/seller_api/bulk_products");
  await ask("products", "/seller_api/products");
  const read = await ask("product", "/seller_api/products/A%26%3C");
  using document = XmlDocument.fromString(read.text);
  const description = document.get("//description")!.content;
  assert(description.endsWith("' \"\u0085\r\n"), JSON.stringify(description));
  const webhook = `<webhook><trigger>order_created</trigger>` +
    `<url>${host.url}/hook?a=1&amp;b=2</url></webhook>`;
  const post = { method: "POST", body: webhook };
  await ask("webhook", "/seller_api/webhooks", post);
  await ask("webhooks", "/seller_api/webhooks");
  const operator = { key: "operator-key" };
  await ask("event", "/operator_api/events", {
    ...operator,
    method: "POST",
    body: "<event><seller>acme</seller>" +
      "<trigger>order_created</trigger><reference>r-1</reference>" +
      `<data><x:a ${NAMESPACE}><![CDATA[&]]></x:a></data></event>`,
  });
  const hook = "/seller_api/webhooks/order_created";
  await ask("test", `${hook}/test`, { method: "POST" });
  const deliveries = await ask("deliveries", `${hook}/deliveries`);
  const delivery = deliveries.text.match(/<id>(.*?)<\//)![1];
  const replay = `${hook}/deliveries/${delivery}/replay`;
  await ask("replay", replay, { method: "POST" });
  await ask("feed", "/operator_api/products", operator);
  await ask("sellers", "/operator_api/sellers", operator);
  await ask("figures", "/operator_api/status", operator);
  await ask("readiness", "/readyz", operator);
  await ask("deletion", hook, { method: "DELETE" });
  await ask("no webhooks", "/seller_api/webhooks");
}

async function askForErrors(app: TestApp, bodies: Bodies): Promise<void> {
  const upload = async (name: string, products: string, query = "") =>
    keep(bodies, name, await app.upload(products, query));
  const post = (body: string, headers: Record<string, string> = {}) =>
    app.call("/seller_api/bulk_products", { method: "POST", body, headers });
  await upload("bare ampersand", "<product>&</product>");
  await upload("control character", "<product>\u0001</product>");
  await upload(
    "too many details",
    product("A", "<zz>\u0085</zz>".repeat(1100)),
  );
  await upload(
    "odd names",
    `<product><x:ü ${NAMESPACE} a="&#13;&#10;&lt;"/>` +
      `<sku>${NAUGHTY}\u0085&#9;x</sku></product>`,
  );
  await upload("too many", product("A").repeat(251));
  const version = await app.call(
    "/seller_api/bulk_products?v=%00%EF%BF%BE%01%3C",
    { method: "POST", body: product("A") },
  );
  keep(bodies, "version", version);
  await upload("version twice", product("A"), "&v=%00%EF%BF%BE%01%3C");
  await upload("odd parameter", product("A"), "&%00%EF%BF%BE%01%3C=1");
  await upload("dry run unclear", product("A"), "&dry_run=%1B%3C%0D");
  await upload("broken query", product("A"), "&x=%FF");
  const keyed = { "Idempotency-Key": "k" };
  assertEquals((await app.upload(product("K"), "", keyed)).status, 200);
  const toUndo = await app.upload(product("U"));
  const id = textAt(toUndo.xml, "transaction_id");
  const undo = () =>
    app.call(`/seller_api/bulk_products/${id}/undo`, { method: "POST" });
  assertEquals((await undo()).status, 200);
  keep(bodies, "conflict", await undo());
  keep(bodies, "key reused", await app.upload(product("L"), "", keyed));
  keep(bodies, "key in progress", await askTwice(app));
  const handIn = (data: string) =>
    app.call("/operator_api/events", {
      method: "POST",
      key: "operator-key",
      body: "<event><seller>acme</seller><trigger>order_created</trigger>" +
        `<reference>r</reference><data>${data}</data></event>`,
    });
  assertEquals((await handIn("<n>1</n>")).status, 200);
  keep(bodies, "reference reused", await handIn("<n>2</n>"));
  keep(bodies, "media type", await post("x", { "Content-Type": 'a/b;"<&' }));
  const json = { "Content-Type": "application/json", Accept: "text/xml" };
  keep(bodies, "malformed JSON", await post('{"a":\u0001', json));
  const long = " ".repeat(app.config.bodyLimit + 1);
  keep(bodies, "too large", await post(long));
  for (
    const [name, path, method] of [
      ["no such attribute", "/seller_api/products/K/attribute/%00%0D%3C/x"],
      ["bad value", "/seller_api/products/K/attribute/brand/%EF%BF%BF%0B%0D"],
      ["no such product", "/seller_api/products/%EF%BF%BE/attribute/brand/x"],
      ["no such route", "/seller_api/%3C%00"],
      ["no such method", "/seller_api/webhooks", "PATCH"],
    ]
  ) {
    keep(bodies, name, await app.call(path, { method: method ?? "PUT" }));
  }
  await app.upload(product("Q"));
  const other = "/seller_api/products/Q/attribute/brand/x?expected=%3C&";
  keep(bodies, "other value", await app.call(other, { method: "PUT" }));
  const key = "\u00e9<&]]>";
  keep(bodies, "no key", await app.call("/seller_api/webhooks", { key }));
}

/** The body of an answer whose length is not checked. */
function bodyOf(answer: string): string {
  return answer.slice(answer.indexOf("\r\n\r\n") + 4);
}

/** The answers 408, 429, 500 and 503, which need special situations. */
async function askForFailures(bodies: Bodies): Promise<void> {
  const clock = new TestClock();
  // A tenth of the rate is available at once: two requests.
  await using app = await boot({ deps: { clock }, config: { rateLimit: 20 } });
  const half = raw(
    app.url,
    "POST /seller_api/webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n" +
      `Content-Type: text/xml\r\nX-Service-Auth: ${app.key}\r\n\r\n<web`,
  );
  check(bodies, "late body, 408", bodyOf(await passing(clock, half)));
  await app.app.db.write((tx) => tx.run("DROP TABLE webhooks", [], "any"));
  keep(bodies, "failure", await app.call("/seller_api/webhooks"));
  await app.app.db.close();
  keep(bodies, "no database", await app.call("/seller_api/webhooks"));
  keep(bodies, "rate", await app.call("/seller_api/webhooks"));
}

/** The answers to a read-only operator key and to a suspended seller. */
async function askForRefusedKeys(app: TestApp, bodies: Bodies): Promise<void> {
  const operator = { key: "operator-key" };
  const services = { db: app.app.db, deps: systemDeps("error") };
  const who = "command line";
  const readOnly = await addOperatorKey(services, {
    who,
    name: "reader",
    readOnly: true,
  });
  const forbidden = await app.call("/operator_api/events", {
    method: "POST",
    key: readOnly,
  });
  keep(bodies, "read-only key", forbidden);
  await app.call("/operator_api/sellers/acme/attribute/status/suspended", {
    method: "PUT",
    ...operator,
  });
  await until(async () => {
    const answer = await app.call("/seller_api/webhooks");
    if (answer.status !== 403) return false;
    keep(bodies, "suspended", answer);
    return true;
  }, "the suspension");
}

/**
 * The answer to a repeated request while the first one waits for an image host.
 */
async function askTwice(app: TestApp): Promise<Answer> {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  await using host = new Host(async () => {
    asked.resolve();
    await answer.promise;
    return new Response();
  });
  const sent = product("M", `<images><image>${host.url}/m</image></images>`);
  const keyed = { "Idempotency-Key": "twice" };
  const first = app.upload(sent, "", keyed);
  await asked.promise;
  const second = await app.upload(sent, "", keyed);
  answer.resolve();
  assertEquals((await first).status, 200);
  return second;
}

Deno.test("independent parsers accept every kind of answer", async () => {
  const bodies: Bodies = new Map();
  await using host = new Host(({ method }) =>
    method === "HEAD" ? new Response() : new Response("no image\u0001")
  );
  await using app = await boot({
    config: {
      roles: ["api", "images"],
      operatorKey: "operator-key",
      bodyLimit: 200_000,
    },
  });
  await askForSuccess(app, host, bodies);
  await askForErrors(app, bodies);
  await askForRefusedKeys(app, bodies);
  await askForFailures(bodies);
  const seen = [...bodies.values()]
    .map((body) => /<error><code>(\w+)</.exec(body)?.[1])
    .filter((code) => code !== undefined);
  assertEquals([...new Set(seen)].sort(), Object.keys(ERRORS).sort());
  for (const [name] of bodies) {
    const refused = /, [45]\d\d$/.test(name);
    assertEquals(refused, bodies.get(name)!.includes("<error>"), name);
  }
  await lint(bodies);
});
