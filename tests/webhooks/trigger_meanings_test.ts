/** The operator's descriptions of triggers. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { MEANING_EXAMPLE } from "../../src/contracts/examples.ts";
import { TRIGGERS } from "../../src/webhooks/trigger.ts";
import { boot, detailsOf } from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";
import { contract } from "../support/forms.ts";

const CONFIG = { config: { operatorKey: "op" } };
const PATH = "/operator_api/triggers/order_paid";

contract.test("triggers: the operator's description of a trigger is listed; others keep the service's", async () => {
  await using app = await boot(CONFIG);
  const client = app.client();
  const before = (await client.triggers.list()).triggers;
  assertEquals(before.map(({ name }) => name), [...TRIGGERS]);
  const put = (body: string) =>
    app.call(PATH, { method: "PUT", key: "op", body });
  assertEquals((await put(MEANING_EXAMPLE)).status, 200);
  const after = (await client.triggers.list()).triggers;
  assertEquals(after.filter(({ name }) => name === "order_paid"), [{
    name: "order_paid",
    about: "A customer has paid. Send the parcel within two days.",
    example: { order: { number: "1001", ship_by: "2026-11-22" } },
  }]);
  const others = (list: typeof before) =>
    list.filter(({ name }) => name !== "order_paid");
  assertEquals(others(after), others(before));
  for (
    const empty of [
      "<trigger><about/></trigger>",
      "<trigger><about/><example/></trigger>",
    ]
  ) {
    assertEquals((await put(MEANING_EXAMPLE)).status, 200);
    assertEquals((await put(empty)).status, 200);
    assertEquals((await client.triggers.list()).triggers, before, empty);
  }
  const long = await put(
    `<trigger><about>${"x".repeat(2_001)}</about><x/></trigger>`,
  );
  assertEquals(detailsOf(long).map(({ code }) => code).toSorted(), [
    "too_long",
    "unknown_element",
  ]);
  const unknown = await app.call("/operator_api/triggers/order_lost", {
    method: "PUT",
    key: "op",
    body: MEANING_EXAMPLE,
  });
  assertEquals(unknown.status, 404);
  assertStringIncludes(unknown.text, "; the nearest is ");
});

bothEngines.test("triggers: handbook, OpenAPI and test events have the operator's descriptions", async () => {
  await using app = await boot(CONFIG);
  const text = async (path: string) => (await app.call(path)).text;
  const chapter = await text("/docs/webhooks.md");
  await app.call(PATH, { method: "PUT", key: "op", body: MEANING_EXAMPLE });
  const reported = await text("/docs/webhooks.md");
  assertStringIncludes(
    reported,
    "| `order_paid` | A customer has paid. Send the parcel within two days. |",
  );
  assertStringIncludes(reported, "<ship_by>2026-11-22</ship_by>");
  const description = JSON.parse(await text("/openapi.json"));
  const { description: about, requestBody } =
    description.webhooks.order_paid.post;
  assertStringIncludes(about, "Send the parcel within two days.");
  assertStringIncludes(JSON.stringify(requestBody), "ship_by");
  await app.call("/seller_api/webhooks", {
    method: "POST",
    body: "<webhook><trigger>order_paid</trigger>" +
      "<url>http://127.0.0.1:1024/hook</url></webhook>",
  });
  const body = async () => {
    await app.call("/seller_api/webhooks/order_paid/test", { method: "POST" });
    const row = await app.app.db.read((sql) =>
      sql.get<{ body: Uint8Array }>(
        "SELECT body FROM events ORDER BY id DESC LIMIT 1",
      )
    );
    return new TextDecoder().decode(row!.body);
  };
  const sent = await body();
  assertStringIncludes(sent, '<event test="true">');
  assertStringIncludes(sent, "<ship_by>2026-11-22</ship_by>");
  await app.call(PATH, {
    method: "PUT",
    key: "op",
    headers: { "Content-Type": "application/json" },
    body: '{"example": {"lines": [1]}}',
  });
  const { test, data } = JSON.parse(await body());
  assertEquals([test, data], [true, { lines: [1] }]);
  const empty: [type: string, body: string][] = [
    ["xml", "<trigger/>"],
    ["xml", "<trigger><about> </about><example> </example></trigger>"],
    ["json", "{}"],
    ["json", '{"about": "", "example": null}'],
    ["json", '{"example": {}}'],
    ["json", '{"example": ""}'],
  ];
  for (const [type, body] of empty) {
    await app.call(PATH, { method: "PUT", key: "op", body: MEANING_EXAMPLE });
    const restored = await app.call(PATH, {
      method: "PUT",
      key: "op",
      headers: { "Content-Type": `application/${type}` },
      body,
    });
    assertEquals(restored.status, 200, restored.text);
    assertEquals(await text("/docs/webhooks.md"), chapter, body);
  }
});
