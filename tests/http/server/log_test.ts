/** The log lines about uploads. */
import { assertEquals } from "@std/assert";
import { boot, product, textAt } from "../../support/app.ts";

Deno.test("the log counts the products of an upload and the codes of a refused one", async () => {
  await using app = await boot();
  const stored = await app.upload(product("A") + product("B"));
  await app.upload(product("C"), "&dry_run=true");
  await app.upload(
    ["1", "2", "x"].map((gtin, n) => product(`D-${n}`, `<gtin>${gtin}</gtin>`))
      .join(""),
  );
  const lines = app.log.filter(({ event }) =>
    event === "upload_accepted" || event === "request_refused"
  )
    .map(({ time: _, ms: _ms, client: _client, request_id, ...line }) => {
      assertEquals(typeof request_id, "string");
      return line;
    });
  const key = textAt(
    (await app.call("/seller_api/keys")).xml,
    "keys/key/key_id",
  );
  assertEquals((lines[0].products as { created: number }).created, 2);
  assertEquals(lines, [{
    level: "info",
    event: "upload_accepted",
    seller: "acme",
    key,
    transaction: textAt(stored.xml, "transaction_id"),
    products: lines[0].products,
    images: 0,
  }, {
    level: "info",
    event: "request_refused",
    seller: "acme",
    key,
    method: "POST",
    route: "/seller_api/bulk_products",
    status: 422,
    code: "record_invalid",
    details: { out_of_range: 2, not_a_number: 1 },
    bytes_in: lines[1].bytes_in,
    bytes_out: lines[1].bytes_out,
  }]);
});

Deno.test("the log warns of a body budget too small for the largest body", async () => {
  for (
    const [bodyBudget, warned] of [[12_000, false], [11_999, true]] as const
  ) {
    await using app = await boot({ config: { bodyLimit: 1_000, bodyBudget } });
    const line = app.log.find(({ event }) => event === "body_budget_small");
    assertEquals(line?.least, warned ? 12_000 : undefined);
  }
});
