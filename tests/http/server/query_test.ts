/** Query parameters: a route refuses unknown ones, and never ignores them. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ENDPOINTS } from "../../../src/http/routes.ts";
import { boot, codeOf, product, textAt } from "../../support/app.ts";
import { bothForms } from "../../support/forms.ts";

const UPLOAD = "/seller_api/bulk_products";

bothForms.test("an unknown query parameter is 400, and names the nearest known one", async () => {
  await using app = await boot({ config: { operatorKey: "op" } });
  await app.upload(product("A"));
  const cases: readonly [string, string, string, RegExp][] = [
    ["POST", `${UPLOAD}?dryrun=true`, "dryrun", /did you mean "dry_run"\?/],
    ["POST", `${UPLOAD}?V=1.1`, "V", /did you mean "v"\?/],
    ["POST", `${UPLOAD}?v=1.1&DRY_RUN=true`, "DRY_RUN", /"dry_run"\?/],
    ["POST", `${UPLOAD}?v=1.1&wait=5`, "wait", /takes v, dry_run/],
    ["GET", "/seller_api/products?statuss=paused", "statuss", /"status"\?/],
    ["GET", `${UPLOAD}?dry_run=true`, "dry_run", /takes after, limit/],
    ["GET", "/seller_api/webhooks?limit=5", "limit", /takes none/],
    [
      "PUT",
      "/seller_api/products/A/attribute/title/B?v=1.1",
      "v",
      /takes expected/,
    ],
    ["DELETE", "/seller_api/webhooks/order_created?force=1", "force", /none/],
    ["GET", "/operator_api/products?Limit=5", "Limit", /"limit"\?/],
    ["GET", "/seller_api/products?=x", "", /takes .*status/],
    ["HEAD", "/seller_api/products?x", "x", /^/],
  ];
  for (const [method, path, name, message] of cases) {
    const answer = await app.call(path, {
      method,
      key: path.startsWith("/operator_api") ? "op" : undefined,
      body: method === "POST" ? product("B") : undefined,
    });
    assertEquals(answer.status, 400, path);
    if (method === "HEAD") continue;
    assertEquals(codeOf(answer), "malformed_request", path);
    const text = textAt(answer.xml, "error/message");
    assertStringIncludes(text, `The query parameter "${name}" is unknown;`);
    assertMatch(text, message);
  }
  const stored = await app.call("/seller_api/products");
  assertEquals([...stored.text.matchAll(/<sku>/g)].length, 1, "nothing new");
  assertStringIncludes(stored.text, "<title>Title of A</title>");
});

bothForms.test("a parameter with two different values is 400", async () => {
  await using app = await boot();
  const once = await app.upload(
    product("A"),
    "&v=1.1&dry_run=true&dry_run=true",
  );
  assertEquals(once.status, 200);
  for (
    const query of [
      "&v=1.0",
      "&dry_run=true&dry_run=false",
      "&dry_run=false&dry_run=",
    ]
  ) {
    const answer = await app.upload(product("A"), query);
    assertEquals([answer.status, codeOf(answer)], [400, "malformed_request"]);
    assertMatch(
      textAt(answer.xml, "error/message"),
      /occurs twice, as ".*" and as ".*"; send it once\.$/,
    );
  }
  const stored = await app.call("/seller_api/products");
  assertEquals(stored.text.includes("<sku>"), false);
});

bothForms.test("the key and the route are checked before the query", async () => {
  await using app = await boot();
  const status = async (path: string, key?: string | null) =>
    (await app.call(path, { key })).status;
  assertEquals(await status("/seller_api/products?x=1", null), 401);
  assertEquals(await status("/seller_api/nowhere?x=1"), 404);
});

bothForms.test("a malformed id is 404 in a path and 422 as a cursor", async () => {
  await using app = await boot();
  for (const id of ["x", "1", "%00", "a".repeat(2_000), "01a1f8b2-023a-7c4e"]) {
    const status = await app.call(`${UPLOAD}/${id}`);
    assertEquals(status.status, 404, id);
    assertEquals(textAt(status.xml, "error/message"), "No such transaction.");
    const replay = await app.call(
      `/seller_api/webhooks/order_created/deliveries/${id}/replay`,
      { method: "POST" },
    );
    assertEquals(replay.status, 404, id);
    const list = await app.call(`/seller_api/products?after=${id}`);
    assertEquals(list.status, 422, id);
  }
});

bothForms.test("a public route ignores unknown query parameters", async () => {
  await using app = await boot();
  const open = ENDPOINTS.filter(({ access, path }) =>
    access === "public" && !path.includes(":")
  );
  for (const { path } of [...open, { path: "/" }]) {
    const { status } = await app.call(`${path}?utm_source=x`, { key: null });
    assertEquals(status, 200, path);
  }
});

bothForms.test("an empty cursor is the start of the list", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  for (const path of ["products", "bulk_products", "events"]) {
    const first = await app.call(`/seller_api/${path}`);
    const empty = await app.call(`/seller_api/${path}?after=`);
    assertEquals(empty.status, 200, path);
    assertEquals(empty.text, first.text, path);
  }
});
