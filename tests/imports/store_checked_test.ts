/** Dry runs that are stored without sending the document again. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { changeSeller } from "../../src/administration/sellers.ts";
import { systemClock, systemDeps } from "../../src/deps.ts";
import { sweepImportDocuments } from "../../src/imports/retention.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import { STEP_ROWS } from "../../src/lib/steps.ts";
import type { XmlElement } from "../../src/xml/decode.ts";
import {
  type Answer,
  boot,
  child,
  codeOf,
  detailsOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { until } from "../support/clock.ts";
import { bothEngines } from "../support/engine.ts";
import { Host } from "../support/host.ts";
import { contract } from "../support/forms.ts";
import {
  ended,
  idOf,
  IMPORTS,
  post,
  problemsOf,
  products,
  resultsOf,
  storedCount,
  summaryOf,
} from "./calls.ts";

/** The id of a dry run that has ended. */
async function check(
  app: TestApp,
  document: string,
  query = "",
): Promise<string> {
  const id = idOf(await post(app, document, `&dry_run=true${query}`));
  await ended(app, id);
  return id;
}

function store(
  app: TestApp,
  id: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return app.call(`${IMPORTS}/${id}/store`, { method: "POST", headers });
}

/** `status code` of a refusal. */
function refusalOf(answer: Answer): string {
  return `${answer.status} ${codeOf(answer)}`;
}

function put(app: TestApp, sku: string, change: string): Promise<Answer> {
  return app.call(`/seller_api/products/${sku}/attribute/${change}`, {
    method: "PUT",
  });
}

function priced(sku: string, price: string): string {
  return `<product><sku>${sku}</sku><price currency="SEK">${price}</price></product>`;
}

async function resultsIn(
  app: TestApp,
  id: string,
  query = "",
): Promise<XmlElement[]> {
  const answer = await app.call(`${IMPORTS}/${id}/results?limit=100${query}`);
  assertEquals(answer.status, 200, answer.text);
  return child(answer.xml, "results").children;
}

/** `sku: text of former` for each product. */
function formerOf(results: readonly XmlElement[]): string[] {
  return results.map((one) => {
    const former = one.children.find(({ name }) => name === "former");
    const texts = former?.children.map(({ name, text, attributes }) =>
      [name, text, ...Object.values(attributes)].join(" ")
    );
    return `${textAt(one, "sku")}: ${texts?.join(", ") ?? "-"}`;
  });
}

contract.test("a checked dry run is stored as the same import, without its document", async () => {
  await using app = await boot();
  await app.upload(product("S-3") + product("S-300"));
  const id = await check(app, products(620), "&name=all.xml");
  const answer = await store(app, id);
  assertEquals(idOf(answer), id);
  const record = await ended(app, id);
  assertEquals(
    summaryOf(record),
    "completed, total 620, created 618, unchanged 2",
  );
  assertEquals(
    record.children.filter(({ name }) => name === "dry_run"),
    [],
    "what is stored is no dry run",
  );
  assertEquals(textAt(record, "name"), "all.xml");
  assertEquals(textAt(record, "progress"), "100");
  assertEquals(await storedCount(app), 620);
  const results = await resultsOf(app, id);
  assertEquals(results.length, 620);
  assertEquals(results[3], "S-3 unchanged");
  assertEquals(results[619], "S-619 created");
  const { xml } = await app.call(IMPORTS);
  assertEquals(child(xml, "imports").children.length, 1);
  assertEquals(refusalOf(await store(app, id)), "409 conflict");
  const undone = await app.call(`${IMPORTS}/${id}/undo`, { method: "POST" });
  await ended(app, idOf(undone));
  assertEquals(await storedCount(app), 2);
});

contract.test("the same Idempotency-Key stores a dry run once", async () => {
  await using app = await boot();
  const id = await check(app, products(3));
  const headers = { "Idempotency-Key": "store-1" };
  assertEquals(idOf(await store(app, id, headers)), id);
  const again = await store(app, id, headers);
  assertEquals(idOf(again), id);
  assertEquals(again.headers.get("idempotent-replayed"), "true");
  await ended(app, id);
  const other = await check(app, products(3));
  assertEquals(
    refusalOf(await store(app, other, headers)),
    "422 idempotency_key_reused",
  );
});

contract.test("one of two simultaneous requests stores the dry run", async () => {
  await using app = await boot();
  const id = await check(app, products(3));
  const answers = await Promise.all([store(app, id), store(app, id)]);
  assertEquals(answers.map(({ status }) => status).toSorted(), [200, 409]);
  assertEquals(
    summaryOf(await ended(app, id)),
    "completed, total 3, created 3",
  );
});

contract.test("nothing is stored if a product changed since the check, and each is named", async () => {
  await using app = await boot();
  const weighed = '<weight unit="g">300</weight>';
  await app.upload(product("A") + product("B") + product("C", weighed));
  const skus = ["A", "B", "C"].map((sku) => priced(sku, "99")).join("");
  const id = await check(app, skus + product("NEW") + product("D"));
  await put(app, "A", "quantity/4");
  await app.call("/seller_api/products/B", { method: "DELETE" });
  await app.upload(
    `<product><sku>C</sku><description>Other</description></product>` +
      product("NEW"),
  );
  const refused = await store(app, id);
  assertEquals(refusalOf(refused), "409 changed_since");
  assertEquals(
    detailsOf(refused).map(({ product, sku, field, code, message }) =>
      [product, sku, field, code, message].join(" ")
    ),
    [
      "1 A quantity changed_since quantity is 4, and was 5 at the check; check the document again.",
      "2 B sku changed_since sku is that of a product that was deleted after the check; check the document again.",
      "3 C sku changed_since sku is that of a product that was changed after the check; check the document again.",
      "4 NEW sku changed_since sku is that of a product that was created after the check; check the document again.",
    ],
  );
  const read = await app.call("/seller_api/products/A");
  assertEquals(textAt(read.xml, "product/price"), "199");
  const record = child((await app.call(`${IMPORTS}/${id}`)).xml, "import");
  assertEquals(textAt(record, "dry_run"), "true");
  const again = await check(
    app,
    skus.replace("<sku>B</sku>", "<sku>A-2</sku>"),
  );
  assertEquals(
    codeOf(await store(app, again)),
    "conflict",
    "A-2 lacks a title",
  );
});

contract.test("a write since the check that changes no value is no change", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  const id = await check(app, priced("A", "99"));
  await app.upload(product("A"));
  await put(app, "A", "quantity/4");
  await put(app, "A", "quantity/5");
  assertEquals(idOf(await store(app, id)), id);
  assertEquals(
    summaryOf(await ended(app, id)),
    "completed, total 1, updated 1",
  );
});

contract.test("at most 50 products that changed are named", async () => {
  await using app = await boot();
  await app.upload(products(60));
  const id = await check(app, products(600).replaceAll(">5<", ">6<"));
  await app.upload(products(60).replaceAll(">5<", ">7<"));
  assertEquals(detailsOf(await store(app, id)).length, 50);
});

contract.test("only a product that changes while others are stored is refused", async () => {
  let change: (() => Promise<unknown>) | null = null;
  const maybe = async (place: string) => {
    if (place !== "checked products compared") return;
    await change?.();
  };
  await using app = await boot({ deps: { maybe } });
  await app.upload(products(2));
  const id = await check(app, priced("S-0", "99") + priced("S-1", "99"));
  change = () => put(app, "S-1", "quantity/9");
  assertEquals(idOf(await store(app, id)), id);
  const record = await ended(app, id);
  assertEquals(
    summaryOf(record),
    "completed_with_errors, total 2, updated 1, refused 1",
  );
  assertEquals(problemsOf(record), ["2 S-1 2 quantity changed_since"]);
  const { xml } = await app.call("/seller_api/products/S-1");
  assertEquals(textAt(xml, "product/price"), "199");
  const left = await app.call(`${IMPORTS}/${id}/refused`);
  assertStringIncludes(left.text, "S-1");
});

contract.test("with accept=valid the valid products of a dry run are stored", async () => {
  await using app = await boot();
  const document = `${products(260)}${product("BAD", "<gtin>1</gtin>")}`;
  const id = await check(app, document, "&accept=valid");
  assertEquals(idOf(await store(app, id)), id);
  assertEquals(
    summaryOf(await ended(app, id)),
    "completed_with_errors, total 261, created 260, refused 1",
  );
  assertEquals(await storedCount(app), 260);
  const left = await app.call(`${IMPORTS}/${id}/refused`);
  assertStringIncludes(left.text, "BAD");
});

contract.test("only a finished dry run can be stored", async () => {
  const gate = Promise.withResolvers<void>();
  await using host = new Host(async () => {
    await gate.promise;
    return new Response();
  });
  await using app = await boot();
  const other = await app.addSeller("other");
  const stored = idOf(await post(app, products(2)));
  await ended(app, stored);
  assertEquals(refusalOf(await store(app, stored)), "409 conflict");
  const refused = await check(app, product("BAD", "<gtin>1</gtin>"));
  assertEquals(refusalOf(await store(app, refused)), "409 conflict");
  const none = await check(
    app,
    product("BAD", "<gtin>1</gtin>"),
    "&accept=valid",
  );
  assertEquals(refusalOf(await store(app, none)), "409 conflict");
  const undo = await app.call(`${IMPORTS}/${stored}/undo?dry_run=true`, {
    method: "POST",
  });
  await ended(app, idOf(undo));
  assertEquals(refusalOf(await store(app, idOf(undo))), "409 conflict");
  const image = `<images><image>${host.url}/a</image></images>`;
  const hangs = idOf(await post(app, product("H", image), "&dry_run=true"));
  await until(() => host.seen.length > 0, "the HEAD");
  assertEquals(refusalOf(await store(app, hangs)), "409 conflict");
  await app.call(`${IMPORTS}/${hangs}`, { method: "DELETE" });
  gate.resolve();
  await ended(app, hangs);
  assertEquals(refusalOf(await store(app, hangs)), "409 conflict");
  const checked = await check(app, products(3));
  const strange = await app.call(`${IMPORTS}/${checked}/store`, {
    method: "POST",
    key: other,
  });
  assertEquals(strange.status, 404);
  await app.call(`${IMPORTS}/${checked}`, { method: "DELETE" });
  assertEquals((await store(app, checked)).status, 404);
  assertEquals(await storedCount(app), 2);
});

contract.test("a seller that is suspended between the two stores nothing", async () => {
  let suspend = false;
  const maybe = async (place: string) => {
    if (place !== "checked products compared" || !suspend) return;
    await changeSeller({ db: app.app.db, deps: systemDeps("error") }, {
      who: "command line",
      seller: "acme",
      attribute: "status",
      value: "suspended",
    });
  };
  await using app = await boot({ deps: { maybe } });
  const id = await check(app, products(3));
  suspend = true;
  assertEquals(refusalOf(await store(app, id)), "403 suspended");
  const row = await app.app.db.read((sql) =>
    sql.get("SELECT state, dry_run FROM imports WHERE id = ?", [id])
  );
  assertEquals(row, { state: "completed", dry_run: 1 });
});

contract.test("only products beyond the limit at that time are refused", async () => {
  await using app = await boot({ config: { productLimit: 4 } });
  const id = await check(app, products(3));
  await app.upload(product("A") + product("B"));
  assertEquals(idOf(await store(app, id)), id);
  const record = await ended(app, id);
  assertEquals(
    summaryOf(record),
    "completed_with_errors, total 3, created 2, refused 1",
  );
  assertEquals(problemsOf(record), ["3 S-2 4 sku quota_exceeded"]);
});

contract.test("the document of a dry run is kept for a day; then only its refused products", async () => {
  let now = Date.now();
  const clock = { ...systemClock, now: () => now };
  await using app = await boot({ deps: { clock } });
  const bytes = async () => {
    const { xml } = await app.call("/seller_api/account");
    return Number(textAt(xml, "account/import_bytes"));
  };
  const sweep = async () => {
    const services = {
      deps: { ...systemDeps("error"), clock },
      db: app.app.db,
    };
    for await (const _ of sweepImportDocuments(services)) continue;
  };
  // Several pieces of 256 KiB; only the last one has refused products.
  const long = `<description>${"x".repeat(3_500)}</description></product>`;
  const document = products(300).replaceAll("</product>", long) +
    product("BAD", "<gtin>1</gtin>");
  assertEquals(await bytes(), 0);
  const id = await check(app, document, "&accept=valid");
  const later = await check(app, products(2));
  const checked = await bytes();
  assert(checked > 900_000);
  now += DAY_MS - 60_000;
  await sweep();
  assertEquals(await bytes(), checked);
  now += 120_000;
  await sweep();
  const left = await bytes();
  assert(left > 0 && left < 600_000, `${left} bytes are kept`);
  const answer = await store(app, id);
  assertEquals(refusalOf(answer), "409 conflict");
  assertStringIncludes(answer.text, "no longer kept");
  assertEquals(refusalOf(await store(app, later)), "409 conflict");
  const refused = await app.call(`${IMPORTS}/${id}/refused`);
  assertStringIncludes(refused.text, "Title of BAD");
  assertEquals((await resultsOf(app, id)).length, 301);
  for (const one of [id, later]) {
    await app.call(`${IMPORTS}/${one}`, { method: "DELETE" });
  }
  assertEquals(await bytes(), 0);
});

contract.test("the document of a finished import is not kept", async () => {
  await using app = await boot();
  const id = idOf(await post(app, products(300)));
  await ended(app, id);
  const services = { deps: systemDeps("error"), db: app.app.db };
  for await (const _ of sweepImportDocuments(services)) continue;
  const { xml } = await app.call("/seller_api/account");
  assertEquals(textAt(xml, "account/import_bytes"), "0");
  assertEquals((await resultsOf(app, id)).length, 300);
});

contract.test("show=former shows each product before the change", async () => {
  await using app = await boot();
  const more = '<gtin>4006381333931</gtin><weight unit="g">300</weight>';
  await app.upload(product("A", more) + product("B"));
  const document = priced("A", "99") + priced("B", "199") + product("NEW");
  const known = [
    "A: title Title of A, price 199 SEK, quantity 5, gtin 4006381333931, weight 300 g",
    "B: title Title of B, price 199 SEK, quantity 5",
    "NEW: -",
  ];
  const none = ["A: -", "B: -", "NEW: -"];
  const id = await check(app, document, "&show=former");
  assertEquals(formerOf(await resultsIn(app, id)), known);
  const plain = await check(app, document);
  assertEquals(formerOf(await resultsIn(app, plain)), none);
  assertEquals(formerOf(await resultsIn(app, plain, "&show=former")), known);
  await put(app, "A", "quantity/6");
  assertEquals(
    formerOf(await resultsIn(app, id)),
    known,
    "as it was when it was checked",
  );
  await put(app, "A", "quantity/5");
  await store(app, id);
  await ended(app, id);
  assertEquals(formerOf(await resultsIn(app, id, "&show=former")), none);
  const real = await post(app, document, "&show=former");
  assertEquals(refusalOf(real), "400 malformed_request");
});

contract.test("show=former shows refused products, too", async () => {
  await using app = await boot();
  await app.upload(product("A") + product("B"));
  const document = product("NEW-1") + product("A", "<gtin>1</gtin>") +
    priced("B", "99") + product("BAD", "<gtin>1</gtin>");
  const id = await check(app, document, "&accept=valid&show=former");
  assertEquals(formerOf(await resultsIn(app, id)), [
    "NEW-1: -",
    "A: title Title of A, price 199 SEK, quantity 5",
    "B: title Title of B, price 199 SEK, quantity 5",
    "BAD: -",
  ]);
  await put(app, "A", "quantity/6");
  assertEquals(idOf(await store(app, id)), id, "A is not stored");
  await ended(app, id);
  const other = await check(app, document, "&accept=valid");
  await put(app, "B", "quantity/6");
  assertEquals(
    detailsOf(await store(app, other)).map(({ product, sku }) =>
      `${product} ${sku}`
    ),
    ["3 B"],
  );
});

contract.test("show=former names stored products with a similar SKU", async () => {
  await using app = await boot();
  await app.upload(product("MUG-1") + product("0042") + product("S-3"));
  // The first part is checked before the last one.
  const document = product("mug-1") + products(260) + product("42") +
    product("M");
  const similarIn = async (id: string, query = "") =>
    (await resultsIn(app, id, `&result=created${query}`)).flatMap((one) => {
      const similar = one.children.find(({ name }) => name === "similar");
      return similar === undefined
        ? []
        : [`${textAt(one, "sku")}: ${textAt(similar, "title")}`];
    });
  const id = await check(app, document, "&show=former");
  assertEquals(await similarIn(id), ["mug-1: Title of MUG-1"]);
  const { xml } = await app.call(`${IMPORTS}/${id}/results?after=1-0`);
  assertEquals(
    child(xml, "results").children.map((one) => textAt(one, "sku")).at(-2),
    "42",
  );
  assertEquals(
    child(xml, "results").children.filter(({ source }) =>
      source.includes("<similar>")
    ).map((one) => textAt(one, "similar/title")),
    ["Title of 0042"],
  );
  assertEquals(idOf(await store(app, id)), id);
  assertEquals(
    summaryOf(await ended(app, id)),
    "completed, total 263, created 262, unchanged 1",
  );
});

bothEngines.test("a similar SKU is found among more products than one read returns", async () => {
  await using app = await boot();
  await app.upload(products(STEP_ROWS));
  await app.upload(product("ZUG-1"));
  const id = await check(app, product("zug-1"), "&show=former");
  const [found] = await resultsIn(app, id, "");
  assertEquals(textAt(found, "similar/sku"), "ZUG-1");
});

contract.test("the dry run of an upload shows its products before the change", async () => {
  await using app = await boot();
  await app.upload(product("A") + product("B"));
  const bad = product("B", "<gtin>1</gtin>");
  const answer = await app.upload(
    priced("A", "99") + bad + product("NEW"),
    "&dry_run=true&show=former&accept=valid",
  );
  assertEquals(answer.status, 200, answer.text);
  const results = child(child(answer.xml, "dry_run"), "results").children;
  assertEquals(formerOf(results), [
    "A: title Title of A, price 199 SEK, quantity 5",
    "B: title Title of B, price 199 SEK, quantity 5",
    "NEW: -",
  ]);
  assertEquals(
    results.map((one) => textAt(one, "result")),
    ["updated", "refused", "created"],
  );
  const attributes = await app.call(
    "/seller_api/bulk_attributes?dry_run=true&show=former",
    { method: "POST", body: `<products>${priced("B", "1")}</products>` },
  );
  assertEquals(
    formerOf(child(child(attributes.xml, "dry_run"), "results").children),
    ["B: title Title of B, price 199 SEK, quantity 5"],
  );
  const real = await app.upload(priced("A", "99"), "&show=former");
  assertEquals(refusalOf(real), "400 malformed_request");
  const plain = await app.upload(priced("A", "99"), "&dry_run=true");
  assertEquals(
    child(plain.xml, "dry_run").children.map(({ name }) => name),
    ["products"],
  );
});
