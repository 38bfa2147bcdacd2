import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { MAPPING_BYTES, MAPPINGS_LIMIT } from "../../src/sellers/mappings.ts";
import { boot } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { bothEngines } from "../support/engine.ts";
import { contract } from "../support/forms.ts";

const PATH = "/seller_api/mappings";

contract.test("mappings: a mapping is stored, replaced, listed and deleted", async () => {
  const clock = new TestClock();
  await using app = await boot({ deps: { clock } });
  const client = app.client();
  const mapping = {
    columns: [
      { name: 'Vikt "netto" <kg>', field: "weight", unit: "kg" },
      { name: "Shelf", field: "" },
    ],
    values: [{ field: "currency", value: "SEK" }],
  };
  await client.mappings.put({ name: "price list", mapping });
  await client.mappings.put({
    name: "a",
    mapping: { columns: [], values: [] },
  });
  const { mappings } = await client.mappings.list();
  assertEquals(mappings.map(({ name }) => name), ["a", "price list"]);
  const { mapping: read } = await client.mappings.get({ name: "price list" });
  const { updated_at, ...content } = read;
  assertEquals(content, { name: "price list", ...mapping });
  assert(!Number.isNaN(Date.parse(updated_at)));

  clock.advance(1_000);
  await client.mappings.put({
    name: "a",
    mapping: { ...mapping, values: [] },
  });
  const { mapping: replaced } = await client.mappings.get({ name: "a" });
  assertEquals(replaced.columns, mapping.columns);
  assertEquals(Date.parse(replaced.updated_at), clock.now());
  const other = app.client({ key: await app.addSeller("other") });
  assertEquals((await other.mappings.list()).mappings, []);
  await other.mappings.put({ name: "a", mapping: { columns: [], values: [] } });
  await other.mappings.delete({ name: "a" });
  assertEquals((await client.mappings.get({ name: "a" })).mapping, replaced);

  await client.mappings.delete({ name: "a" });
  assertEquals((await app.call(`${PATH}/a`)).status, 404);
  assertEquals((await app.call(`${PATH}/a`, { method: "DELETE" })).status, 404);
});

contract.test("mappings: the number of mappings and their bytes are limited", async () => {
  await using app = await boot();
  const put = (name: string, body = "<mapping><columns/><values/></mapping>") =>
    app.call(`${PATH}/${encodeURIComponent(name)}`, { method: "PUT", body });
  for (let i = 0; i < MAPPINGS_LIMIT; i++) {
    assertEquals((await put(`m${i}`)).status, 200);
  }
  const { mappings } = await app.client().mappings.list();
  assertEquals(
    mappings.map(({ name }) => name),
    Array.from({ length: MAPPINGS_LIMIT }, (_, i) => `m${i}`).toSorted(),
  );
  const more = await put("one more");
  assertEquals(more.status, 422);
  assertStringIncludes(more.text, "quota_exceeded");
  assertEquals((await app.call(`${PATH}/one%20more`)).status, 404);
  const key = await app.addSeller("other");
  await app.client({ key }).mappings.put({
    name: "one more",
    mapping: { columns: [], values: [] },
  });
  // One of the name is replaced.
  assertEquals((await put("m0")).status, 200);
  const long = "x".repeat(MAPPING_BYTES);
  assertEquals((await put("m0", `<mapping>${long}</mapping>`)).status, 413);
  assertEquals((await put("x".repeat(65))).status, 422);
});

bothEngines.test("mappings: of four sent at the same time, only those within the limit are stored", async () => {
  await using app = await boot();
  const client = app.client();
  const mapping = { columns: [], values: [] };
  const put = (name: string) => client.mappings.put({ name, mapping });
  for (let n = 1; n < MAPPINGS_LIMIT; n++) await put(`m${n}`);
  for (let round = 0; round < 10; round++) {
    const names = ["a", "b", "c", "d"];
    const puts = await Promise.allSettled(names.map(put));
    const stored = names.filter((_, n) => puts[n].status === "fulfilled");
    assertEquals(stored.length, 1);
    await client.mappings.delete({ name: stored[0] });
  }
});

contract.test("mappings: every problem of a mapping is reported", async () => {
  await using app = await boot();
  for (
    const [body, message] of [
      ["<map/>", "mapping"],
      ["<mapping><values/></mapping>", "columns"],
      ["<mapping><columns/></mapping>", "values"],
      ["<mapping><rows/></mapping>", "rows"],
      ["<mapping><columns><col/></columns></mapping>", "write <column>"],
      ["<mapping><columns><column>A</column></columns></mapping>", "field"],
      [
        "<mapping><columns/><values><value field='a' x=''>A</value></values></mapping>",
        "x is not known",
      ],
      [
        "<mapping><columns/><values><value field='a'><b/></value></values></mapping>",
        "only text",
      ],
    ]
  ) {
    const { status, text } = await app.call(`${PATH}/a`, {
      method: "PUT",
      body,
    });
    assertEquals(status, 422, body);
    const [, told] = /<message>((?:(?!Record)[^<])+)<\/message>/.exec(text) ??
      [];
    assertStringIncludes(
      told.replaceAll("&lt;", "<").replaceAll("&gt;", ">"),
      message,
    );
  }
});
