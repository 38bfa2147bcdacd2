/** A suspended seller: refused everywhere, while its work waits. */
import { assert, assertEquals } from "@std/assert";
import { changeSeller } from "../../src/administration/sellers.ts";
import { systemDeps } from "../../src/deps.ts";
import { readSellerState } from "../../src/sellers/access.ts";
import { markRemoved } from "../../src/sellers/seller_rows.ts";
import {
  boot,
  child,
  codeOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { TestClock, until } from "../support/clock.ts";
import { Host } from "../support/host.ts";
import { WebhookSink } from "../support/webhook_sink.ts";
import { contract } from "../support/forms.ts";

function setStatus(app: TestApp, value: string): Promise<void> {
  return changeSeller({ db: app.app.db, deps: systemDeps("error") }, {
    who: "command line",
    seller: "acme",
    attribute: "status",
    value,
  });
}

async function isRefused(app: TestApp): Promise<boolean> {
  const answer = await app.call("/seller_api/webhooks");
  return answer.status === 403 && codeOf(answer) === "suspended";
}

contract.test("suspended: every request is 403 within a second, until active again", async () => {
  const clock = new TestClock();
  await using app = await boot({ deps: { clock } });
  const other = await app.addSeller("other");
  assertEquals((await app.upload(product("A"))).status, 200);
  await setStatus(app, "suspended");
  clock.advance(1_000);
  assert(await isRefused(app));
  assertEquals((await app.upload(product("B"))).status, 403);
  const concurrent = await app.call("/seller_api/products", { key: other });
  assertEquals(concurrent.status, 200);
  await setStatus(app, "active");
  clock.advance(1_000);
  assertEquals((await app.call("/seller_api/products/A")).status, 200);
  const { xml } = await app.call("/seller_api/refusals");
  assertEquals(
    child(xml, "refusals").children.map((one) => textAt(one, "route")),
    ["POST /seller_api/bulk_products", "GET /seller_api/webhooks"],
  );
});

contract.test("a write after the removal of its seller is 401, not 403", async () => {
  await using app = await boot();
  const seller = { id: app.sellerId, no: app.sellerNo, name: "acme" };
  await app.app.db.write((tx) => markRemoved(tx, seller));
  for (const keyId of [undefined, "any"]) {
    const { inactiveError } = await app.app.db.read((sql) =>
      readSellerState(sql, { ...seller, keyId } as never)
    );
    assertEquals(inactiveError?.code, "unauthorized");
  }
});

contract.test("suspended: a wait ends with 403, a stream without final", async () => {
  const clock = new TestClock();
  await using host = new Host(() => new Response());
  await using app = await boot({ deps: { clock } });
  const uploaded = await app.upload(
    product("A", `<images><image>${host.url}/a</image></images>`),
  );
  const id = textAt(uploaded.xml, "transaction_id");
  const path = `/seller_api/bulk_products/${id}`;
  const response = await fetch(app.url + path, {
    headers: { "X-Service-Auth": app.key, Accept: "text/event-stream" },
  });
  let streamed: string | null = null;
  response.text().then((text) => streamed = text);
  const timers = clock.waiting;
  const waiting = app.call(`${path}?wait=30`);
  let answered = false;
  waiting.then(() => answered = true);
  await until(() => clock.waiting > timers, "the wait");
  await setStatus(app, "suspended");
  const began = clock.now();
  await until(() => {
    if (!answered || streamed === null) clock.advance(50);
    return answered && streamed !== null;
  }, "the end");
  assert(clock.now() - began <= 5_000, `${clock.now() - began}`);
  assertEquals([(await waiting).status, codeOf(await waiting)], [
    403,
    "suspended",
  ]);
  assert(!streamed!.includes("event: final"));
});

contract.test("suspended: deliveries wait, and are sent once the seller is active", async () => {
  await using sink = new WebhookSink();
  await using app = await boot({
    config: { operatorKey: "op", roles: ["api", "webhooks"] },
  });
  const hook = await app.call("/seller_api/webhooks", {
    method: "POST",
    body:
      `<webhook><trigger>order_paid</trigger><url>${sink.url("/own")}</url>` +
      "</webhook>",
  });
  assertEquals(hook.status, 200, hook.text);
  const emit = async (reference: string, seller: string) => {
    const answer = await app.call("/operator_api/events", {
      method: "POST",
      key: "op",
      body: `<event><seller>${seller}</seller><trigger>order_paid</trigger>` +
        `<reference>${reference}</reference></event>`,
    });
    assertEquals(answer.status, 200, answer.text);
  };
  await setStatus(app, "suspended");
  await emit("1", "acme");
  // A delivery of another seller shows that the queue was read.
  const other = await app.addSeller("other");
  const beside = await app.call("/seller_api/webhooks", {
    method: "POST",
    key: other,
    body:
      `<webhook><trigger>order_paid</trigger><url>${sink.url("/other")}</url>` +
      "</webhook>",
  });
  assertEquals(beside.status, 200, beside.text);
  await emit("2", "other");
  await until(() => sink.received.length === 1, "the other's delivery");
  assertEquals(sink.received[0].path, "/other");
  const put = await app.call(
    "/operator_api/sellers/acme/attribute/status/active",
    { method: "PUT", key: "op" },
  );
  assertEquals(put.status, 204);
  await until(() => sink.received.length === 2, "the delivery that waited");
});

contract.test("suspended: images wait, but an active seller's with the same URL do not", async () => {
  const gets = () => host.seen.filter(({ method }) => method === "GET");
  await using host = new Host(({ method }) =>
    new Response(null, { status: method === "GET" ? 404 : 200 })
  );
  const images = (...names: string[]) =>
    `<images>${
      names.map((name) => `<image>${host.url}/${name}</image>`).join("")
    }</images>`;
  await using app = await boot();
  await app.upload(product("A", images("own", "both")));
  const other = await app.addSeller("other");
  const beside = await app.call("/seller_api/bulk_products?v=1.1", {
    method: "POST",
    key: other,
    body: `<products>${product("A", images("both"))}</products>`,
  });
  assertEquals(beside.status, 200, beside.text);
  await setStatus(app, "suspended");
  const { dataDir, databaseUrl } = app.config;
  await using _worker = await boot({
    config: { dataDir, databaseUrl, roles: ["images"] },
    seller: { id: app.sellerId, key: app.key },
  });
  await until(() => gets().length === 1, "the other's image");
  assertEquals(gets()[0].path, "/both");
  await setStatus(app, "active");
  await until(() => gets().length === 3, "the images that waited");
  assertEquals(gets().map(({ path }) => path).sort(), [
    "/both",
    "/both",
    "/own",
  ]);
});
