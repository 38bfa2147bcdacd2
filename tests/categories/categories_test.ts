/** The marketplace's list of categories, over HTTP. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
} from "../../src/catalogue/fields.ts";
import type { Category } from "../../src/client/types.ts";
import { CATEGORIES_EXAMPLE } from "../../src/contracts/examples.ts";
import {
  boot,
  detailsOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { contract } from "../support/forms.ts";
import { bothEngines } from "../support/engine.ts";
import { SentStatements } from "../support/statements.ts";

const PATH = "/operator_api/categories";
const CONFIG = { config: { operatorKey: "op", rateLimit: 0 } };

async function put(app: TestApp, body: string, query = "") {
  return await app.call(`${PATH}${query}`, { method: "PUT", key: "op", body });
}

/** The XML of a product's category and of its attributes `material`. */
function fieldsOf(category: string, ...attributes: string[]): string {
  const list = attributes.map((value) =>
    `<attribute name="material">${value}</attribute>`
  ).join("");
  return `<categories><category>${category}</category></categories>` +
    `<attributes>${list}</attributes>`;
}

contract.test("categories: a client lists, gets and searches them", async () => {
  await using app = await boot(CONFIG);
  const client = app.client();
  const none = await client.categories.list();
  assertEquals(none.categories, { closed: false, category: [] });
  assertEquals(
    (await put(app, CATEGORIES_EXAMPLE, "?dry_run=true")).status,
    200,
  );
  assertEquals((await client.categories.list()).categories.category, []);
  assertEquals((await put(app, CATEGORIES_EXAMPLE)).status, 200);
  const { categories } = await client.categories.list();
  const mugs: Category = {
    name: "Home/Mugs",
    rule: [
      { field: "gtin", required: true, from: "2027-01-01", value: [] },
      { attribute: "material", required: true, value: ["steel", "porcelain"] },
    ],
  };
  assertEquals(categories, { closed: true, category: [mugs] });
  const { category } = await client.categories.get({ category: "Home/Mugs" });
  assertEquals(category, mugs);
  const missing = await app.call("/seller_api/categories/Home");
  assertEquals(missing.status, 404);
  for (const [q, found] of [["mUG", 1], ["cup", 0]] as const) {
    const { categories } = await client.categories.list({ q });
    assertEquals(categories.category!.length, found);
  }
});

bothEngines.test("categories: pages belong to one list while another replaces it", async () => {
  await using app = await boot(CONFIG);
  const names = Array.from({ length: 600 }, (_, n) => `Category ${n}`);
  const document = (names: string[]) =>
    `<categories>${
      names.map((name) => `<category name="${name}"/>`).join("")
    }</categories>`;
  assertEquals((await put(app, document(names))).status, 200);
  const seen: string[] = [];
  for (let after = ""; after !== "end";) {
    const { text } = await app.call(
      `/seller_api/categories?limit=250&after=${after}`,
    );
    for (const [, name] of text.matchAll(/category name="([^"]+)"/g)) {
      seen.push(name);
    }
    after = /<next>([^<]+)/.exec(text)?.[1] ?? "end";
    if (seen.length === 250) await put(app, document(["Other"]));
  }
  assertEquals(seen, names);
  const { text } = await app.call("/seller_api/categories");
  assertStringIncludes(text, 'name="Other"');
});

bothEngines.test("categories: the ETag changes with the list", async () => {
  await using app = await boot(CONFIG);
  const get = (etag = "") =>
    app.call("/seller_api/categories", { headers: { "If-None-Match": etag } });
  const etagOf = async () => (await get()).headers.get("ETag")!;
  const none = await etagOf();
  assertEquals((await get(none)).status, 304);
  await put(app, CATEGORIES_EXAMPLE);
  assertEquals((await get(none)).status, 200);
  const first = await etagOf();
  assertEquals((await get(first)).status, 304);
  await put(app, CATEGORIES_EXAMPLE);
  assertEquals((await get(first)).status, 200);
});

contract.test("categories: rules apply to uploads but not to price updates", async () => {
  await using app = await boot(CONFIG);
  // This product is stored before the list exists.
  assertEquals(
    (await app.upload(product("OLD", fieldsOf("Free")))).status,
    200,
  );
  await put(app, '<categories><category name="Home/Mud"/></categories>');
  await put(app, CATEGORIES_EXAMPLE);
  const refused = await app.upload(
    product("A", fieldsOf("Home/Mug", "steel")) +
      product("B", fieldsOf("Home/Mugs", "stel")) +
      product("C", fieldsOf("Home/Mugs")) +
      product("D", fieldsOf("Home/Mugs", "steel")),
  );
  assertEquals(
    detailsOf(refused).map((
      { product, field, code },
    ) => [product, field, code]),
    [
      ["1", "categories/category[1]", "unknown_category"],
      ["2", "attributes/attribute[1]", "not_in_list"],
      ["3", "attributes", "attribute_required"],
    ],
  );
  const [{ message }] = detailsOf(refused);
  assertStringIncludes(message, "Home/Mugs", "a name of the current list");
  assertStringIncludes(
    refused.text,
    "of which &quot;steel&quot; is the nearest",
  );
  const dryRun = await app.upload(
    product("D", fieldsOf("Home/Mugs", "steel")),
    "&dry_run=true",
  );
  assertEquals(
    textAt(dryRun.xml, "dry_run/warnings/warning/from"),
    "2027-01-01",
  );
  const stored = await app.upload(product("D", fieldsOf("Home/Mugs", "steel")));
  const id = textAt(stored.xml, "transaction_id");
  const status = await app.call(`/seller_api/bulk_products/${id}`);
  assertEquals(
    textAt(status.xml, "transaction/warnings/warning/code"),
    "attribute_required",
  );
  // Price and stock of a stored product that breaks a rule can still be
  // changed.
  for (const [path, code] of [["price/7", 204], ["quantity/3", 204]] as const) {
    const answer = await app.call(
      `/seller_api/products/OLD/attribute/${path}`,
      { method: "PUT" },
    );
    assertEquals(answer.status, code, answer.text);
  }
  const title = await app.upload(
    "<product><sku>OLD</sku><title>Other</title></product>",
  );
  assertEquals(title.status, 200, title.text);
  const other = await app.upload(
    `<product><sku>OLD</sku>${fieldsOf("Free", "steel")}</product>`,
  );
  const [unknown] = detailsOf(other);
  assertEquals(unknown.code, "unknown_category");
  assertStringIncludes(unknown.message, 'the nearest is "Home/Mugs".');
});

bothEngines.test("categories: rules apply to PUT attribute and to bulk_attributes", async () => {
  await using app = await boot(CONFIG);
  const list = `<categories><category name="C">
    <rule field="brand"><value>Acme</value></rule></category></categories>`;
  await put(app, list);
  const stored = await app.upload(product("A", fieldsOf("C")) + product("B"));
  assertEquals(stored.status, 200, stored.text);
  const set = (sku: string, brand: string) =>
    app.call(`/seller_api/products/${sku}/attribute/brand/${brand}`, {
      method: "PUT",
    });
  const refused = await set("A", "Acne");
  assertEquals(refused.status, 422);
  assertEquals(detailsOf(refused)[0].code, "not_in_list");
  assertEquals((await set("A", "Acme")).status, 204);
  assertEquals((await set("B", "Any")).status, 204);
  const bulk = (brand: string) =>
    app.call("/seller_api/bulk_attributes", {
      method: "POST",
      body: `<products><product><sku>A</sku><brand>${brand}</brand></product>` +
        "</products>",
    });
  assertEquals(detailsOf(await bulk("Acne"))[0].code, "not_in_list");
  assertEquals((await bulk("")).status, 200);
});

bothEngines.test("categories: a rule may require any optional field", async () => {
  await using app = await boot(CONFIG);
  const rule = (field: string) => `<rule field="${field}" required="true"/>`;
  const list = (...fields: string[]) =>
    `<categories><category name="C">${fields.map(rule).join("")}` +
    "</category></categories>";
  const names = SCALAR_NAMES.filter((name) => !SCALAR_RULES[name].required);
  for (const name of [...names, "images"]) {
    const isOptional = name === "images" ||
      SCALAR_RULES[name as ScalarField].initial === null;
    const { status, text } = await put(app, list(name), "?dry_run=true");
    assertEquals(status, isOptional ? 200 : 422, `${name}: ${text}`);
  }
  const safety = ["manufacturer", "responsible_person", "safety_text"];
  await put(app, list(...safety));
  const refused = await app.upload(product("A", fieldsOf("C")));
  assertEquals(
    detailsOf(refused).map(({ field, code }) => `${field} ${code}`),
    safety.map((field) => `${field} attribute_required`),
  );
  await put(app, list("safety_text"));
  const text = "<safety_text>Not for children.</safety_text>";
  const { status } = await app.upload(product("A", fieldsOf("C") + text));
  assertEquals(status, 200);
  // A change must not remove the required text.
  const removed = await app.upload(
    "<product><sku>A</sku><safety_text/></product>",
  );
  assertEquals(detailsOf(removed)[0].code, "attribute_required");
});

bothEngines.test("categories: an import reports problems and warnings", async () => {
  await using app = await boot(CONFIG);
  await put(app, CATEGORIES_EXAMPLE);
  const products = Array.from(
    { length: 300 },
    (_, n) =>
      product(`A${n}`, fieldsOf("Home/Mugs", n === 299 ? "wood" : "steel")),
  );
  for (const query of ["&dry_run=true", "&accept=valid"]) {
    const begun = await app.call(`/seller_api/imports?v=1.1${query}`, {
      method: "POST",
      body: `<products>${products.join("")}</products>`,
    });
    const id = textAt(begun.xml, "import_id");
    const { xml, text } = await app.call(`/seller_api/imports/${id}?wait=30`);
    const codes = text.match(/<code>[^<]+/g)!;
    assertEquals(
      codes.filter((code) => code.includes("not_in_list")).length,
      1,
    );
    assertEquals(text.match(/<warning>/g)!.length, 299);
    assert(textAt(xml, "import/status") !== "failed");
  }
});

bothEngines.test("categories: uploads read them from memory, not the database", async () => {
  await using app = await boot({
    config: { ...CONFIG.config, roles: ["api"] },
    app: { maintain: false },
  });
  let n = 0;
  /** The statements of four requests: new, changed, priced, bulk_attributes. */
  const statementsOnce = async () => {
    const sku = `S${n++}`;
    const change = (field: string) =>
      `<product><sku>${sku}</sku>${field}</product>`;
    using sent = new SentStatements();
    const answers = [
      await app.upload(product(sku, fieldsOf("Home/Mugs", "steel"))),
      await app.upload(change("<title>Other</title>")),
      await app.upload(change('<price currency="SEK">7</price>')),
      await app.call("/seller_api/bulk_attributes", {
        method: "POST",
        body: `<products>${change("<brand>Acme</brand>")}</products>`,
      }),
    ];
    for (const { status, text } of answers) assertEquals(status, 200, text);
    return sent.texts;
  };
  /**
   * How often each statement was sent, in each of five runs. One run is not
   * enough, because the service also sends statements of its own.
   */
  const statements = async () => {
    const all = [];
    for (let i = 0; i < 5; i++) {
      const byText = Map.groupBy(await statementsOnce(), (text) => text);
      all.push(
        new Map([...byText].map(([text, { length }]) => [text, length])),
      );
    }
    return all;
  };
  // Statements are prepared, and settings read, once in a process.
  await statements();
  const without = await statements();
  for (const { size } of without) assert(size > 10, `${size}`);
  const reads = without.flatMap((once) => [...once.keys()])
    .filter((text) => /\bcategor(ies|y_list)\b/.test(text));
  const readsSellerState = (text: string) =>
    text.startsWith("SELECT status, review");
  const ofProducts = /\bproducts\b/;
  assertEquals(
    reads.filter((text) => !readsSellerState(text) && !ofProducts.test(text)),
    [],
  );
  await put(app, CATEGORIES_EXAMPLE);
  await statements();
  const withList = await statements();
  // Even the run with the fewest statements of a text would have more of them
  // than any run without the list, if uploads read categories.
  const more = [...withList[0].keys()].filter((text) =>
    Math.min(...withList.map((once) => once.get(text) ?? 0)) >
      Math.max(...without.map((once) => once.get(text) ?? 0))
  );
  assertEquals(more, []);
});

contract.test("categories: all problems of a document are reported at once", async () => {
  await using app = await boot(CONFIG);
  const answer = await put(
    app,
    `<categories closed="maybe">text<categori/>
<category><rule fild="gtin"><value/></rule></category>
<category name="A"><rule field="price" required="true"/></category>
<category name="A"><rule field="gtin" attribute="a" required="no" from="2027-02-30"/>
<rule field="images"><value>1</value></rule><rule field="gtin"><value>1</value></rule>
<rule attribute="x"><value>1</value><value>1</value></rule></category>
<category name="B"><rule field="gtin"/><rule field="brand" required="false"/>
<rule field="mpn" required="no"/></category>
</categories>`,
  );
  assertEquals(answer.status, 422, answer.text);
  const details = detailsOf(answer);
  const lines = details.map(({ line }) => Number(line));
  assertEquals(lines, lines.toSorted(), "in the order of the lines");
  assertEquals(
    details.map(({ line, field, code }) => `${line} ${field} ${code}`)
      .toSorted(),
    [
      "1 @closed not_in_list",
      "1 categori unknown_element",
      "1 categories unexpected_text",
      "2 category[1]/@name required",
      "2 category[1]/rule[1] required",
      "2 category[1]/rule[1]/@fild unknown_attribute",
      "2 category[1]/rule[1]/value[1] required",
      "3 category[2]/rule[1]/@field not_in_list",
      "4 category[3]/@name repeated_value",
      "4 category[3]/rule[1] not_allowed",
      "4 category[3]/rule[1]/@from not_a_date",
      "4 category[3]/rule[1]/@required not_in_list",
      "5 category[3]/rule[2]/value[1] not_allowed",
      "5 category[3]/rule[3]/value[1] out_of_range",
      "6 category[3]/rule[4]/value[2] repeated_value",
      "7 category[4]/rule[1] required",
      "7 category[4]/rule[2] required",
      "8 category[4]/rule[3]/@required not_in_list",
    ].toSorted(),
  );
  const { text } = await app.call("/seller_api/categories");
  assert(!/<category|"name"/.test(text), text);
});
