/** Each judge accepts the reference program, and refuses it with a mistake. */
import { assert, assertEquals } from "@std/assert";
import { SCENARIOS, tasks } from "./scenarios.ts";
import { World } from "./world.ts";

interface Mistake {
  /** What is replaced in the reference program. */
  from: string | RegExp;
  to: string;
  /** Begins a sentence of the judge. */
  found: string;
}

/** The reference program of each scenario, and its mistakes. */
const PROGRAMS: [name: string, ...mistakes: Mistake[]][] = [
  ["first_upload", {
    from: "await client.uploads.waitFor(upload)",
    to: "(await client.uploads.get(upload)).transaction",
    found: "the last line",
  }, {
    from: '.replaceAll("&", "&amp;").replaceAll("<", "&lt;")',
    to: '.replaceAll("&", "and").replaceAll("<", "")',
    found: "the product MUG-1",
  }],
  ["partly_wrong", {
    from: "create({ products: again })",
    to: "create({ products })",
    found: "products of the last upload",
  }],
  ["sales_of_a_till", {
    from: "idempotencyKey: `sale ${sale}`",
    to: "idempotencyKey: crypto.randomUUID(), retryFor: 0",
    found: "exit code 1",
  }, {
    from: /value: `-.*\n.*change: true/,
    to: "value: `${((await client.products.get({ sku_or_id: sku })).product" +
      ".quantity ?? 0) - Number(pieces)}`",
    found: "the stock",
  }],
  ["orders_by_webhook", {
    from: "!known.has(id)",
    to: "true",
    found: "lines of orders.txt",
  }, {
    from: "known.add(line.split",
    to: "(line.split",
    found: "lines of orders.txt",
  }, {
    from: /await verifyWebhook\(\{[^}]*\}\)/,
    to: "{ id: /<id>(.*)<.id>/.exec(body)![1], trigger: 'order_paid' }",
    found: "a delivery with a wrong signature",
  }],
  ["events_by_cursor", {
    from: "if (known.has(line)) continue;",
    to: "",
    found: "events.log after a run with the former",
  }, {
    from: "if (events.length === 0) break;",
    to: "break;",
    found: "events.log after the first run",
  }],
  ["large_import", {
    from: "client.imports.store(begun)",
    to: 'client.imports.create({ products, accept: "valid" })',
    found: "times that the document was sent",
  }],
  ["pictures_from_disk", {
    from: "Number(a.at[1]) - Number(b.at[1])",
    to: "a.name < b.name ? -1 : 1",
    found: "the pictures of MUG-1",
  }],
  ["sale_and_its_end", {
    from: "client.uploads.undo({ transaction_id })",
    to: "client.uploads.setAttributes({ products: [" +
      "'MUG-1', 'CUP 2/3', 'VASE-1'].map((sku) => ({ sku, sale: null })) })",
    found: "the sale and price of VASE-1",
  }],
  ["copy_of_all_products", {
    from: "if (next === undefined) break;",
    to: "break;",
    found: "missing in copy.db after the first run",
  }, {
    from: "one.deleted_at !== undefined",
    to: "one.sku === undefined",
    found: "exit code 1",
  }, {
    from: "SELECT value FROM place",
    to: "SELECT value FROM place WHERE false",
    found: "the second run read from the beginning",
  }],
  ["decisions_and_orders", {
    from: "changed_at,",
    to: "",
    found: 'the review of "Now at',
  }, {
    from: "{ seller, number: reference, ...data }",
    to: "{ seller, number, ...data }",
    found: "exit code 1",
  }],
];

/** What the judge of a scenario misses in its reference program. */
async function missingIn(
  number: number,
  change: (text: string) => string,
): Promise<string[]> {
  const name = `${PROGRAMS[number - 1][0]}.ts`;
  const file = new URL(`references/${name}`, import.meta.url);
  const text = await Deno.readTextFile(file);
  await using world = await World.open();
  const judge = await SCENARIOS[number - 1](world);
  await world.install(
    name,
    change(text.replace("../../../src/client/dist/client.js", "./client.js")),
  );
  return await judge();
}

Deno.test("each task of the chapter has a prompt, criteria and a judge", () => {
  const all = tasks();
  assertEquals(all.length, SCENARIOS.length);
  assertEquals(PROGRAMS.length, SCENARIOS.length);
  for (const { title, prompt, criteria } of all) {
    assert(prompt.includes("BASE_URL"), title);
    assert(prompt.split(".").length > 3 && criteria >= 2, title);
  }
});

for (const [i, [name, ...mistakes]] of PROGRAMS.entries()) {
  const number = i + 1;
  Deno.test(`scenario ${number}: the judge accepts ${name}`, async () => {
    assertEquals(await missingIn(number, (text) => text), []);
  });
  for (const { from, to, found } of mistakes) {
    Deno.test(`scenario ${number}: the judge says ${found} …`, async () => {
      const missing = await missingIn(number, (text) => {
        const changed = text.replace(from, () => to);
        assert(changed !== text, `${from} is not in the program`);
        return changed;
      });
      assert(
        missing.some((sentence) => sentence.startsWith(found)),
        missing.join("\n"),
      );
    });
  }
}
