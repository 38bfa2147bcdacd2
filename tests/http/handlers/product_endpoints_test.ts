/** `GET …/products`, `…/products/:sku_or_id`, `…/bulk_products`. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { SCAN_LIMIT } from "../../../src/http/server/list.ts";
import { element } from "../../../src/xml/encode.ts";
import {
  boot,
  child,
  codeOf,
  detailsOf,
  product,
  type TestApp,
  textAt,
} from "../../support/app.ts";
import { withCorpus } from "../../support/corpus.ts";
import { ImageHost } from "../../support/image_host.ts";
import { nextOf, readAll, valueOf } from "../../support/read_out.ts";
import { bothForms, contract } from "../../support/forms.ts";

const PRODUCTS = "/seller_api/products";

/** Returns `created updated unchanged` of posting a document. */
async function counts(app: TestApp, products: string): Promise<string> {
  const record = await app.status(await app.upload(products));
  return ["created", "updated", "unchanged"]
    .map((name) => textAt(record, `products/${name}`)).join(" ");
}

function skus(products: { children: unknown[] }[]): string {
  return products.map((one) => valueOf(one as never, "sku")).join(" ");
}

const HOSTILE = "<script>alert('1')</script> &amp; ]]> \u{1F600} \u202e\"é";

/** Every field, with texts that a careless encoder would spoil. */
function fullProduct(imageUrls: string[]): string {
  return element("product", {
    sku: `A/1 ${HOSTILE}`.slice(0, 50),
    title: HOSTILE,
    description:
      `\r\n  <p>line\r\nnext\rlast\ttab &#13; ${HOSTILE}</p>\u0085\u2028 \n\r`,
    price: { "@currency": "SEK", "#text": "0.0001" },
    compare_at_price: "9999999999.9999",
    vat_rate: "12.5",
    quantity: 0,
    availability: "preorder",
    available_at: "2030-01-31",
    gtin: "00012345600012",
    brand: HOSTILE,
    mpn: "0 & 1",
    condition: "refurbished",
    status: "paused",
    parent_sku: "P'\"",
    categories: { category: [HOSTILE, "b > c"] },
    attributes: {
      attribute: [
        { "@name": `a"'<&>\u{1F600}`, "#text": HOSTILE },
        { "@name": "b", "#text": "0" },
      ],
    },
    images: {
      image: imageUrls.map((url, i) => ({
        "@alt": i === 0 ? HOSTILE : undefined,
        "#text": url,
      })),
    },
  });
}

contract.test("a product read from the API can be uploaded as it is and stays unchanged", async () => {
  await using host = new ImageHost();
  await using app = await boot({ config: { roles: ["api", "images"] } });
  const urls = ["good/a.png?x=1&y=2", "missing/b.png", "good/c.jpg"]
    .map((path) => `${host.url}/${path}`);
  const uploaded = await app.upload(fullProduct(urls));
  await app.status(uploaded, "?wait=10");
  await app.upload(product("PLAIN"));

  const list = await app.call(PRODUCTS);
  assertEquals(list.headers.get("content-type"), "text/xml; charset=utf-8");
  const { children: [first] } = child(list.xml, "products");
  const bySku = `${PRODUCTS}/${encodeURIComponent(textAt(first, "sku"))}`;
  const one = await app.call(bySku);
  for (
    const answer of [one, await app.call(`${PRODUCTS}/${textAt(first, "id")}`)]
  ) {
    assertEquals(child(answer.xml, "product").source, first.source);
  }

  const document = /<products>.*<\/products>/s.exec(list.text)![0];
  const bytes = new TextEncoder().encode(document);
  const record = await app.status(await app.upload(bytes));
  assertEquals(textAt(record, "products/unchanged"), "2");
  assertEquals(textAt(record, "products/total"), "2");
  const single = /<product .*<\/product>/s.exec(one.text)![0];
  assertEquals(await counts(app, single), "0 0 1");
  const moved = single.replace(/<id>.*?<\/id>/, "").replace("A/1", "B/1");
  assertEquals(await counts(app, moved), "1 0 0");
});

contract.test("a product shows its times and the state of its images", async () => {
  await using host = new ImageHost();
  await using app = await boot({ config: { roles: ["api", "images"] } });
  const urls = ["good/a.png", "missing/b.png"].map((p) => `${host.url}/${p}`);
  const images = urls.map((url) => `<image alt="x">${url}</image>`).join("");
  await app.status(
    await app.upload(product("A", `<images>${images}</images>`)),
    "?wait=10",
  );
  const shown = child((await app.call(`${PRODUCTS}/A`)).xml, "product");
  assertMatch(shown.attributes.created_at, /^\d{4}-.*T.*\.\d{3}Z$/);
  assertEquals(shown.attributes.updated_at, shown.attributes.created_at);
  const [stored, failed] = child(shown, "images").children;
  const { href, ...rest } = stored.attributes;
  assertEquals(rest, {
    alt: "x",
    status: "stored",
    type: "image/png",
    width: rest.width,
    height: rest.height,
  });
  assert(Number(rest.width) > 0 && Number(rest.height) > 0);
  assertMatch(href, /^\/images\/[0-9a-f]{2}\/[0-9a-f]{64}\.png$/);
  assertEquals(stored.text, urls[0]);
  assertEquals(failed.attributes.status, "failed");
  assertEquals(failed.attributes.code, "image_not_found");
  assertEquals(failed.attributes.href, undefined);
});

contract.test("a seller sees only its own products; an unknown product is 404", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  const id = textAt((await app.call(`${PRODUCTS}/A`)).xml, "product/id");
  const other = await app.addSeller("other");
  for (const path of ["A", id, "none"]) {
    const key = path === "none" ? app.key : other;
    const answer = await app.call(`${PRODUCTS}/${path}`, { key });
    assertEquals([answer.status, codeOf(answer)], [404, "not_found"]);
  }
  const list = await app.call(PRODUCTS, { key: other });
  assertEquals(child(list.xml, "products").children.length, 0);
  const recent = await app.call("/seller_api/bulk_products", { key: other });
  assertEquals(child(recent.xml, "transactions").children.length, 0);
});

contract.test("paging shows each product once while writes go on", async () => {
  await using app = await boot();
  const document = Array.from({ length: 120 }, (_, i) => product(`S-${i}`));
  await app.upload(document.join(""));
  const seen: string[] = [];
  let after = "";
  for (let page = 0;; page++) {
    const { xml } = await app.call(`${PRODUCTS}?limit=50${after}`);
    const shown = child(xml, "products").children;
    seen.push(...shown.map((one) => textAt(one, "id")));
    const next = nextOf(xml);
    if (next === null) break;
    after = `&after=${next}`;
    // Renames and changes products both on earlier and on later pages.
    await app.call(`${PRODUCTS}/S-${page}/attribute/sku/Z-${page}`, {
      method: "PUT",
    });
    await app.upload(
      document.map((one) => one.replace("Title", `T${page}`)).slice(10)
        .join(""),
    );
  }
  assertEquals(seen.length, 120);
  assertEquals(new Set(seen).size, 120);
});

contract.test("a page has 50 products unless limit says otherwise, and at most 250", async () => {
  await using app = await boot();
  const many = Array.from({ length: 250 }, (_, i) => product(`S-${i}`));
  await app.upload(many.join(""));
  const size = async (query: string) => {
    const { xml } = await app.call(PRODUCTS + query);
    return [child(xml, "products").children.length, nextOf(xml) !== null];
  };
  assertEquals(await size(""), [50, true]);
  assertEquals(await size("?limit=249"), [249, true]);
  assertEquals(await size("?limit=250"), [250, false]);
  assertEquals(await size("?limit=1"), [1, true]);
});

bothForms.test("each bad parameter of a list is a detail of a 422", async () => {
  await using app = await boot({ config: { operatorKey: "op" } });
  const lists: [string, string[], string?][] = [
    [`${PRODUCTS}?after=x`, ["after not_allowed"]],
    [
      `${PRODUCTS}?limit=0&status=gone&updated_since=yesterday&q=${
        "x".repeat(151)
      }`,
      [
        "limit out_of_range",
        "status not_in_list",
        "updated_since not_a_date",
        "q too_long",
      ],
    ],
    [`${PRODUCTS}?limit=251`, ["limit out_of_range"]],
    [`${PRODUCTS}?limit=1.5`, ["limit out_of_range"]],
    [`${PRODUCTS}?limit=`, ["limit out_of_range"]],
    [`${PRODUCTS}?updated_since=2026-13-01T00:00:00Z`, [
      "updated_since not_a_date",
    ]],
    ["/seller_api/bulk_products?after=1&limit=x", [
      "after not_allowed",
      "limit out_of_range",
    ]],
    ["/operator_api/products?after=7", ["after not_allowed"], "op"],
    ["/operator_api/sellers?limit=-1", ["limit out_of_range"], "op"],
  ];
  for (const [path, expected, key] of lists) {
    const answer = await app.call(path, { key: key ?? app.key });
    assertEquals([answer.status, codeOf(answer)], [422, "record_invalid"]);
    assertEquals(
      detailsOf(answer).map(({ field, code }) => `${field} ${code}`),
      expected,
      path,
    );
  }
});

contract.test("products are filtered by status, time of change and text", async () => {
  let now = Date.parse("2096-11-20T08:00:00Z");
  const { systemClock } = await import("../../../src/deps.ts");
  await using app = await boot({
    deps: { clock: { ...systemClock, now: () => now } },
  });
  await app.upload(product("a-1", "<status>paused</status>") + product("B-2"));
  now += 60_000;
  await using host = new ImageHost();
  const image = `<images><image>${host.url}/good/c.png</image></images>`;
  await app.upload(product("C-3", image) + product("ÄPPLE%_"));
  const found = async (query: string) =>
    skus((await readAll(app, `${PRODUCTS}?${query}`, "products")).entries)
      .split(" ").sort().join(" ");
  assertEquals(await found("status=paused"), "a-1");
  assertEquals(
    await found("updated_since=2096-11-20T08:01:00Z"),
    "C-3 ÄPPLE%_",
  );
  assertEquals(
    await found("updated_since=2096-11-20T09:01:00+01:00"),
    "C-3 ÄPPLE%_",
  );
  assertEquals(await found("updated_since=2096-11-21"), "");
  assertEquals(await found("q=A-1"), "a-1");
  assertEquals(await found("q=title+OF+b"), "B-2");
  assertEquals(await found("q=%C3%A4pple%25_"), "ÄPPLE%_");
  assertEquals(await found("q=_-_"), "", "no pattern");
  assertEquals(await found("q="), "B-2 C-3 a-1 ÄPPLE%_");
  assertEquals(await found("q=-&status=active"), "B-2 C-3");
  assertEquals(await found("images=pending"), "C-3");
  assertEquals(await found("images=failed"), "");
  await app.app.db.write((tx) =>
    // bounded: that of one product
    tx.run(
      "UPDATE images SET state = 'failed', code = 'c', message = 'm'",
      [],
      "any",
    )
  );
  assertEquals(await found("images=failed&limit=1"), "C-3");
  assertEquals(await found("images=failed&q=b"), "");
});

contract.test("a GTIN filter compares the whole GTIN and combines with other filters", async () => {
  await using app = await boot();
  const of = (gtin: string) => `<gtin>${gtin}</gtin>`;
  const other = await app.addSeller("other");
  await app.upload(
    product("A-1", of("4006381333931")) +
      product("A-2", of("4006381333931") + "<status>paused</status>") +
      product("B-1", of("96385074")) + product("NONE"),
  );
  const theirs = await app.call("/seller_api/bulk_products", {
    method: "POST",
    key: other,
    body: `<products>${product("A-1", of("4006381333931"))}</products>`,
  });
  assertEquals(theirs.status, 200);
  const found = async (query: string) =>
    skus((await readAll(app, `${PRODUCTS}?${query}`, "products")).entries);
  assertEquals(await found("gtin=4006381333931"), "A-1 A-2");
  assertEquals(await found("gtin=4006381333931&limit=1"), "A-1 A-2");
  assertEquals(await found("gtin=+4006381333931+"), "A-1 A-2");
  assertEquals(await found("gtin=96385074"), "B-1");
  assertEquals(await found("gtin=00000096385074"), "", "another text");
  assertEquals(await found("gtin=4006381333931&status=paused"), "A-2");
  assertEquals(await found("gtin=4006381333931&q=a-1"), "A-1");
  assertEquals(await found("gtin=4006381333931&images=failed"), "");
  const moved = await app.call(`${PRODUCTS}/A-1/attribute/gtin/96385074`, {
    method: "PUT",
  });
  assertEquals(moved.status, 204);
  assertEquals(await found("gtin=96385074"), "A-1 B-1");
  for (
    const [query, expected] of [
      ["gtin=", "gtin required"],
      ["gtin=40063813339a1", "gtin not_a_number"],
      ["gtin=123", "gtin out_of_range"],
      ["gtin=4006381333932", "gtin bad_check_digit"],
      ["status=deleted&gtin=96385074", "gtin not_allowed"],
    ]
  ) {
    const answer = await app.call(`${PRODUCTS}?${query}`);
    assertEquals([answer.status, codeOf(answer)], [422, "record_invalid"]);
    assertEquals(
      detailsOf(answer).map(({ field, code }) => `${field} ${code}`),
      [expected],
    );
  }
});

contract.test("a page examines a bounded number of rows and still misses none", async () => {
  await using app = await boot();
  await app.upload(product("FIRST"));
  const total = 2 * SCAN_LIMIT + 3;
  await app.app.db.write((tx) =>
    tx.runMany(
      `INSERT INTO products (id, seller_no, sku, title, price, currency,
         availability, condition, status, categories, attributes, images,
         created_at, updated_at, change_no)
       VALUES (?, ?, ?, 't', '1', 'SEK', 'in_stock', 'new', 'active', '[]',
         '[]', '[]', 0, 0, 0)`,
      Array.from({ length: total }, (_, i) => [
        `ffffffff-0000-7000-8000-${`${i}`.padStart(12, "0")}`,
        app.sellerNo,
        `S-${i}`,
      ]),
      "any",
    )
  );
  const path = `${PRODUCTS}?q=s-${total - 1}`;
  const { entries, pages } = await readAll(app, path, "products");
  assertEquals([skus(entries), pages], [`S-${total - 1}`, 3]);
  const paused = await readAll(app, `${PRODUCTS}?status=paused`, "products");
  assertEquals([paused.entries.length, paused.pages], [0, 3]);
  const coded = "96385074";
  await app.app.db.write((tx) =>
    // bounded: that of one product
    tx.run("UPDATE products SET gtin = ? WHERE sku = ?", [
      coded,
      `S-${total - 1}`,
    ], "any")
  );
  for (const query of [`gtin=${coded}`, `gtin=${coded}&q=s-`]) {
    const found = await readAll(app, `${PRODUCTS}?${query}`, "products");
    assertEquals([skus(found.entries), found.pages], [`S-${total - 1}`, 1]);
  }
  const shared = "4006381333931";
  await app.app.db.write((tx) =>
    // bounded: that of all products but one
    tx.run("UPDATE products SET gtin = ? WHERE gtin IS NULL", [shared], "any")
  );
  for (
    const [query, sku, pages] of [
      [`gtin=${coded}`, `S-${total - 1}`, 1],
      [`gtin=${shared}&q=s-${total - 2}`, `S-${total - 2}`, 3],
    ] as const
  ) {
    const found = await readAll(app, `${PRODUCTS}?${query}`, "products");
    assertEquals([skus(found.entries), found.pages], [sku, pages]);
  }
});

contract.test("deletions: listed oldest first, in pages, by time and SKU, with each deletion of a SKU", async () => {
  let now = Date.parse("2096-11-20T08:00:00Z");
  const { systemClock } = await import("../../../src/deps.ts");
  await using app = await boot({
    deps: { clock: { ...systemClock, now: () => now } },
  });
  const other = await app.addSeller("other");
  const remove = async (sku: string) => {
    const path = `${PRODUCTS}/${encodeURIComponent(sku)}`;
    const { status } = await app.call(path, { method: "DELETE" });
    assertEquals(status, 200);
  };
  const names = ["B-1", "Ä-2", "C-3", "D-4"];
  await app.upload([...names, "STAYS"].map((sku) => product(sku)).join(""));
  for (const sku of names) {
    await remove(sku);
    now += 60_000;
  }
  await app.upload(product("B-1"));
  await remove("B-1");
  const found = async (query: string) =>
    skus(
      (await readAll(app, `${PRODUCTS}?status=deleted&${query}`, "products"))
        .entries,
    );
  assertEquals(await found(""), "B-1 Ä-2 C-3 D-4 B-1");
  assertEquals(await found("limit=1"), "B-1 Ä-2 C-3 D-4 B-1");
  const whole = `${PRODUCTS}?status=deleted&limit=5`;
  assertEquals((await readAll(app, whole, "products")).pages, 1);
  assertEquals(
    await found("updated_since=2096-11-20T08:02:00Z"),
    "C-3 D-4 B-1",
  );
  assertEquals(await found("q=b-"), "B-1 B-1");
  assertEquals(await found("q=%C3%A4&limit=1"), "Ä-2");
  const one = await app.call(`${PRODUCTS}?status=deleted&limit=1`);
  const [shown] = child(one.xml, "products").children;
  assertEquals({ ...shown.attributes }, {
    deleted_at: "2096-11-20T08:00:00.000Z",
  });
  assertEquals(shown.children.map(({ name }) => name), ["id", "sku"]);
  const theirs = await app.call(`${PRODUCTS}?status=deleted`, { key: other });
  assertEquals(child(theirs.xml, "products").children, []);
  const wrong = await app.call(
    `${PRODUCTS}?status=deleted&review=pending&images=failed&after=${
      valueOf(shown, "id")
    }`,
  );
  assertEquals(wrong.status, 422);
  assertEquals(
    detailsOf(wrong).map(({ field, code }) => `${field} ${code}`),
    ["after not_allowed", "review not_allowed", "images not_allowed"],
  );
});

contract.test("deletions: a search examines a bounded number of rows and still misses none", async () => {
  await using app = await boot();
  const total = 2 * SCAN_LIMIT + 3;
  await app.app.db.write((tx) =>
    tx.runMany(
      `INSERT INTO deleted_products
         (seller_no, id, seller_id, seller_name, sku, deleted_at, change_no)
       VALUES (?, ?, 'x', 'acme', ?, ?, 0)`,
      Array.from({ length: total }, (_, i) => [
        app.sellerNo,
        `ffffffff-0000-7000-8000-${`${i}`.padStart(12, "0")}`,
        `S-${i}`,
        i >> 3,
      ]),
      1,
    )
  );
  const path = `${PRODUCTS}?status=deleted&q=s-${total - 1}`;
  const { entries, pages } = await readAll(app, path, "products");
  assertEquals([skus(entries), pages], [`S-${total - 1}`, 3]);
  const all = await readAll(
    app,
    `${PRODUCTS}?status=deleted&limit=250`,
    "products",
  );
  assertEquals(
    new Set(all.entries.map((one) => valueOf(one, "sku"))).size,
    total,
  );
});

contract.test("recent transactions: the newest first, with counters, page by page", async () => {
  await using app = await boot();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    const { xml } = await app.upload(product(`A-${i}`));
    ids.unshift(textAt(xml, "transaction_id"));
  }
  // Ids of one millisecond are not in order.
  const expected = ids.sort().reverse();
  const { entries, pages } = await readAll(
    app,
    "/seller_api/bulk_products?limit=2",
    "transactions",
  );
  assertEquals(entries.map((one) => textAt(one, "transaction_id")), expected);
  assertEquals(pages, 3);
  assertEquals(textAt(entries[0], "status"), "completed");
  assertEquals(textAt(entries[0], "products/created"), "1");
  assertEquals(textAt(entries[0], "images/total"), "0");
  assert(!entries[0].children.some(({ name }) => name === "results"));
});

interface CorpusProduct {
  sku: string;
  title: string;
  description: string | null;
  price: string;
  currency: string;
  brand: string | null;
  category: string | null;
  attributes: Record<string, string>;
}

function corpusProduct(one: CorpusProduct, n: number): string {
  const attributes = Object.entries(one.attributes ?? {})
    .map(([name, value]) => [name.trim().slice(0, 50), `${value}`.trim()])
    .filter(([name, value]) => name !== "" && value !== "")
    .map(([name, value]) => ({
      "@name": name,
      "#text": value.replace(/\p{Cc}/gu, " ").slice(0, 255).trim(),
    }));
  return element("product", {
    sku: `${one.sku}-${n}`.slice(-64),
    title: (one.title.replace(/\p{Cc}/gu, " ").trim() || "-").slice(0, 150),
    description: one.description?.slice(0, 5_000),
    price: { "@currency": "USD", "#text": "1.50" },
    quantity: n,
    brand: one.brand?.slice(0, 100),
    categories: one.category?.trim()
      ? { category: [one.category.trim().slice(0, 255)] }
      : undefined,
    attributes: attributes.length === 0 ? undefined : { attribute: attributes },
  });
}

withCorpus("products.jsonl", (bytes) => {
  Deno.test("real products are read as they were uploaded", async () => {
    const lines = new TextDecoder().decode(bytes).trim().split("\n");
    const products = lines.map((line, n) => corpusProduct(JSON.parse(line), n));
    await using app = await boot();
    for (let i = 0; i < products.length; i += 250) {
      const part = products.slice(i, i + 250);
      assertEquals(
        await counts(app, part.join("")),
        `${part.length} 0 0`,
      );
    }
    let unchanged = 0;
    let after = "";
    for (;;) {
      const answer = await app.call(`${PRODUCTS}?limit=250${after}`);
      const document = /<products>.*<\/products>/s.exec(answer.text)![0];
      const bytes = new TextEncoder().encode(document);
      const record = await app.status(await app.upload(bytes));
      unchanged += Number(textAt(record, "products/unchanged"));
      const next = nextOf(answer.xml);
      if (next === null) break;
      after = `&after=${next}`;
    }
    assertEquals(unchanged, products.length);
  });
});

contract.test("the operator's feed waits for the first change", async () => {
  await using app = await boot({ config: { operatorKey: "op" } });
  const follow = async (query: string) => {
    const answer = await app.call(`/operator_api/products?${query}`, {
      key: "op",
    });
    assertEquals(answer.status, 200, answer.text);
    const next = answer.xml.children.find(({ name }) => name === "next");
    const products = answer.xml.children.find(({ name }) =>
      name === "products"
    )!;
    return { skus: products.children.length, next: next?.text };
  };
  const none = await follow("wait=1");
  assertEquals(none.skus, 0);
  assertEquals(await follow(`after=${none.next}&wait=0`), {
    skus: 0,
    next: undefined,
  });
  await app.upload(product("A"));
  const { skus, next } = await follow(`after=${none.next}&wait=30`);
  assertEquals(skus, 1);
  assertEquals(await follow(`after=${next}&wait=1`), { skus: 0, next });
  const waiting = follow(`after=${next}&wait=30`);
  await app.upload(product("B"));
  assertEquals((await waiting).skus, 1);
});
