/** An operator sees a seller's data, and cannot change it that way. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { systemDeps } from "../../src/deps.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { VIEW_ENTRY_MS } from "../../src/sellers/views.ts";
import { addOperatorKey } from "../../src/sellers/operator_keys.ts";
import { boot, child, product, type TestApp, textAt } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { bothForms } from "../support/forms.ts";

const BELOW = "/operator_api/sellers/acme";
const OPERATOR = { config: { operatorKey: "op", rateLimit: 0 } };

async function looks(app: TestApp): Promise<string[]> {
  const { xml } = await app.call("/operator_api/audit", { key: "op" });
  return child(xml, "audit").children.map((entry) =>
    ["who", "action", "seller"].map((name) => textAt(entry, name)).join(" ")
  ).filter((line) => line.includes("seller view"));
}

/** Removes what only the seller itself gets: its request id, and its key. */
function shown({ status, text }: { status: number; text: string }): string {
  return `${status} ${text}`
    .replace(/<request_id>[^<]*/g, "")
    .replace("<current>true</current>", "")
    .replace(/<last_used_at(\/>|>[^<]*<\/last_used_at>)/g, "");
}

bothForms.test("views: an operator can read each route as the seller does, but not write", async () => {
  await using app = await boot(OPERATOR);
  const uploaded = await app.upload(product("x"));
  const body = "<webhook><trigger>order_created</trigger>" +
    "<url>http://127.0.0.1:1024/hook</url></webhook>";
  const made = await app.call("/seller_api/webhooks", { method: "POST", body });
  assertEquals(made.status, 200, made.text);
  const { xml } = await app.call(
    "/seller_api/webhooks/order_created/rotate_secret",
    { method: "POST" },
  );
  const secret = textAt(xml, "webhook_secret");
  const key = await addOperatorKey({
    db: app.app.db,
    deps: systemDeps("error"),
  }, {
    who: "t",
    name: "auditor",
    readOnly: true,
  });
  const ids: Record<string, string> = {
    transaction_id: textAt(uploaded.xml, "transaction_id"),
    trigger: "order_created",
    sku_or_id: "x",
  };
  for (
    const { method, path, documentation } of ROUTES.filter(({ access }) =>
      access === "seller"
    )
  ) {
    const target = path.replace(/:(\w+)/g, (_, name) => ids[name] ?? "none");
    const query = documentation?.operation === "getHistory"
      ? "?attribute=price"
      : "";
    const view = await app.call(BELOW + target + query, {
      method,
      key: method === "GET" ? key : "op",
    });
    const what = `${method} ${path}: ${view.text}`;
    if (method !== "GET") {
      assert([404, 405].includes(view.status), what);
      continue;
    }
    const seen = await app.call(target + query);
    // A view uses no key of the seller, whose id the account shows.
    const ownKey = /<key_id>[^<]*<\/key_id>(?=<source_addresses)/;
    assertEquals(shown(view), shown(seen).replace(ownKey, ""), path);
    assertEquals(view.headers.get("ratelimit-limit"), null);
    for (const hidden of [secret, app.key]) assert(!view.text.includes(hidden));
  }
  const refusals = child(
    (await app.call("/seller_api/refusals?limit=250")).xml,
    "refusals",
  ).children.map((refusal) => textAt(refusal, "route"));
  assertEquals(new Set(refusals).size, refusals.length, `${refusals}`);
  assertEquals(await looks(app), ["auditor seller view acme"]);
  const stream = await app.call(
    `${BELOW}/seller_api/bulk_products/${ids.transaction_id}`,
    { key, headers: { Accept: "text/event-stream" } },
  );
  assertStringIncludes(stream.text, "event: final");
});

bothForms.test("views: each is in the audit log, whatever state the seller is in", async () => {
  const clock = new TestClock();
  await using app = await boot({ ...OPERATOR, deps: { clock } });
  const look = async (seller = "acme", key = "op") =>
    (await app.call(`/operator_api/sellers/${seller}/seller_api/products`, {
      key,
    })).status;
  await app.call(`${BELOW}/attribute/status/suspended`, {
    method: "PUT",
    key: "op",
  });
  assertEquals(await Promise.all([look(), look(app.sellerId)]), [200, 200]);
  assertEquals(await look("nobody"), 404);
  assertEquals(await look("acme", app.key), 401);
  assertEquals(await looks(app), ["environment seller view acme"]);
  clock.advance(VIEW_ENTRY_MS);
  assertEquals(await look(), 200);
  assertEquals((await looks(app)).length, 2);
});
