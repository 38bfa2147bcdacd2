/**
 * `accept=valid`: which products are stored, which are returned, and products
 * that depend on each other.
 */
import {
  assert,
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertStringIncludes,
} from "@std/assert";
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
import { ImageHost } from "../support/image_host.ts";
import { bothForms, contract } from "../support/forms.ts";
import type { XmlElement } from "../../src/xml/decode.ts";

const BULK = "/seller_api/bulk_products";
/** A product with nothing but its SKU. */
const bad = (sku: string) => `<product><sku>${sku}</sku></product>`;

/** Uploads a whole document with accept=valid. */
function send(
  app: TestApp,
  document: string,
  query = "",
  headers: Record<string, string> = {},
): Promise<Answer> {
  const bytes = new TextEncoder().encode(document);
  return app.upload(bytes, `&accept=valid${query}`, headers);
}

function sendProducts(app: TestApp, ...products: string[]): Promise<Answer> {
  return send(app, `<products>${products.join("")}</products>`);
}

function refusedOf(app: TestApp, uploaded: Answer): Promise<Answer> {
  const id = textAt(uploaded.xml, "transaction_id");
  return app.call(`${BULK}/${id}/refused`);
}

/**
 * `total created updated unchanged refused`; "-" for a count that is left out.
 */
function counts(record: XmlElement): string {
  const products = child(record, "products");
  return ["total", "created", "updated", "unchanged", "refused"]
    .map((name) =>
      products.children.find((one) => one.name === name)?.text ?? "-"
    ).join(" ");
}

/** `sku result codes` of each result. */
function results(record: XmlElement): string[] {
  return child(record, "results").children
    .filter(({ name }) => name === "product")
    .map((result) => {
      const part = (name: string) =>
        result.children.find((one) => one.name === name);
      const codes = part("details")?.children.map((detail) =>
        `${textAt(detail, "field")}:${textAt(detail, "code")}`
      );
      return [
        part("sku")?.text ?? "-",
        textAt(result, "result"),
        ...codes ?? [],
      ]
        .join(" ");
    });
}

contract.test(
  "valid products are stored, the others are returned as they were sent",
  async () => {
    await using app = await boot();
    const odd =
      "<product >\r\n\t<sku>B-2</sku><!-- -x- --><title>Größe \u{1f600}" +
      "</title>\r<price currency='SEK'>12,50</price><quantity><![CDATA[5]]>" +
      "</quantity>\n<bogus x='--'/></product\t>";
    const sent = "\ufeff<?xml version='1.0' encoding='utf-8'?>\r\n" +
      '<!-- head --><products xmlns:x="urn:ä&amp;" \r\n xsi:a="1" xmlns:xsi="urn:i">' +
      `\r\n ${product("A-1")}\r\n ${odd}\r\n<product/>${
        product("C-3")
      }</products>`;
    const answer = await send(app, sent);
    assertEquals(answer.status, 200, answer.text);
    const id = textAt(answer.xml, "transaction_id");
    assertEquals(
      answer.text,
      '<?xml version="1.0" encoding="UTF-8"?><service>' +
        `<transaction_id>${id}</transaction_id><refused>2</refused></service>`,
    );

    const record = await app.status(answer);
    assertEquals(textAt(record, "status"), "completed");
    assertEquals(counts(record), "4 2 0 0 2");
    assertEquals(results(record), [
      "A-1 created",
      "B-2 refused price:not_a_number bogus:unknown_element",
      "- refused sku:required title:required price:required quantity:required",
      "C-3 created",
    ]);
    // Refused products take part in pages like all others.
    const page = await app.status(answer, "?after=2");
    assertEquals(results(page), results(record).slice(2));

    const refused = await refusedOf(app, answer);
    assertEquals(refused.status, 200);
    assertEquals(
      refused.headers.get("content-type"),
      "text/xml; charset=utf-8",
    );
    assertEquals(
      refused.headers.get("content-length"),
      `${new TextEncoder().encode(refused.text).length}`,
    );
    const root = refused.xml;
    assertEquals(root.name, "products");
    assertEquals(root.attributes["xmlns:x"], "urn:ä&");
    assertEquals(root.children.length, 2);
    assertStringIncludes(
      refused.text,
      '<products xmlns:x="urn:ä&amp;" \r\n xsi:a="1" xmlns:xsi="urn:i">',
    );
    assertStringIncludes(refused.text, `-->\n${odd}\n<!-- product 3 `);
    assertStringIncludes(refused.text, "-->\n<product/>\n</products>\n");

    // Sent unchanged, it is refused for the same reasons; corrected, it is
    // stored.
    const again = await send(app, refused.text);
    assertEquals(again.status, 422);
    assertEquals(detailsOf(again).length, 6);
    const corrected = refused.text.replaceAll("12,50", "12.50")
      .replace("<bogus x='--'/>", "").replace("<product/>", product("D-4"));
    assertEquals(
      counts(await app.status(await send(app, corrected))),
      "2 2 0 0 -",
    );
  },
);

contract.test(
  "duplicates and swapped SKUs are refused together",
  async () => {
    await using app = await boot();
    await app.upload(product("A") + product("B") + product("C") + product("D"));
    const list = await app.call("/seller_api/products");
    const ids = new Map(
      child(list.xml, "products").children.map((one) => [
        textAt(one, "sku"),
        textAt(one, "id"),
      ]),
    );
    const rename = (from: string, to: string, more = "") =>
      `<product><id>${ids.get(from)}</id><sku>${to}</sku>${more}</product>`;
    const unknown = "<id>01a1f8b2-023a-7c4e-bb79-6b7fea93e19d</id>";
    const tried = async (...products: string[]) => {
      const answer = await sendProducts(app, product("new"), ...products);
      return results(await app.status(answer)).slice(1);
    };
    // The later one is refused even if the first is refused for another reason.
    assertEquals(
      await tried(bad("X"), product("X")),
      [
        "X refused title:required price:required quantity:required",
        "X refused sku:duplicate_sku",
      ],
    );
    assertEquals(
      await tried(`<product>${unknown}<sku>X</sku></product>`, product("X")),
      ["X refused id:unknown_id", "X refused sku:duplicate_sku"],
    );
    assertEquals(
      await tried(rename("A", "X"), rename("B", "X"), rename("B", "Y")),
      [
        "X updated",
        "X refused sku:duplicate_sku",
        "Y refused sku:duplicate_product",
      ],
    );
    assertEquals(await tried(rename("A", "A")), ["A updated"]);
    // A chain: C is refused, so B cannot have its SKU, so A cannot have B's.
    assertEquals(
      await tried(
        rename("A", "B"),
        rename("B", "C"),
        rename("C", "A", "<gtin>1</gtin>"),
        "<product><sku>D</sku><quantity>1</quantity></product>",
      ),
      [
        "B refused sku:sku_taken",
        "C refused sku:sku_taken",
        "A refused gtin:out_of_range",
        "D updated",
      ],
    );
    assertEquals(
      await tried(rename("A", "B"), rename("B", "A")),
      ["B updated", "A updated"],
    );
  },
);

bothForms.test("a problem outside of any product refuses the whole document", async () => {
  await using app = await boot();
  const bads = Array.from(
    { length: 240 },
    (_, i) => `<product><sku>${i}</sku>${"<x/>".repeat(30)}</product>`,
  );
  const cases: [document: string, status: number, code: string][] = [
    [`${product("A")}<produkt/>`, 422, "unknown_element"],
    [`${product("A")}text`, 422, "unexpected_text"],
    // After more problems than an answer lists.
    [
      product("A") +
      bads.map((one) => one.replaceAll("<x/>".repeat(25), "")).join("") +
      "<produkt/>",
      422,
      "unknown_element",
    ],
    [`${product("A")}${bads.join("")}<produkt/>`, 422, "unknown_element"],
    ["", 422, "required"],
    [bad("A") + bad("B"), 422, "required"],
    [`${product("A")}<product>`, 400, "syntax"],
  ];
  for (const [products, status, code] of cases) {
    for (const query of ["", "&dry_run=true"]) {
      const answer = await send(app, `<products>${products}</products>`, query);
      assertEquals([answer.status, products], [status, products]);
      const details = detailsOf(answer);
      assert(details.some((detail) => detail.code === code));
      if (products.includes("<produkt/>")) {
        assert(details.some((detail) => !detail.product), "what refuses all");
      }
    }
  }
  const root = await send(app, `<products a="1">${product("A")}</products>`);
  assertEquals(root.status, 422);
  const { xml } = await app.call("/seller_api/products");
  assertEquals(child(xml, "products").children.length, 0);
});

bothForms.test("every refused product has all its reasons", async () => {
  await using app = await boot();
  const flawed = (i: number) =>
    `<product><sku>${i}</sku>${"<x/>".repeat(60)}</product>`;
  const answer = await sendProducts(
    app,
    product("A"),
    ...Array.from({ length: 249 }, (_, i) => flawed(i)),
  );
  const record = await app.status(answer);
  assertEquals(counts(record), "250 1 0 0 249");
  const last = child(record, "results").children[249];
  // 60 unknown elements, and three missing fields.
  const details = child(last, "details");
  assertEquals(
    details.children.length - 1 + Number(textAt(details, "more")),
    63,
  );
  const refused = await refusedOf(app, answer);
  assertEquals(refused.xml.children.length, 249);
  assertEquals(
    refused.xml.children.map(({ source }) => source.length > 200).includes(
      false,
    ),
    false,
  );
  assertMatch(refused.text, /and 13 more -->/);
});

bothForms.test("a hostile product breaks neither comment nor document", async () => {
  await using app = await boot();
  const hostile = [
    `<product><sku>--&gt;&lt;/products&gt;</sku><title>---</title>` +
    `<price currency="---">--&gt;</price><quantity>--</quantity></product>`,
    `<product><sku>a</sku><title>]]&gt;-</title><brand><![CDATA[-->]]>` +
    `</brand><gtin><![CDATA[--><x>-]]></gtin><a--b--/></product>`,
    `<product><sku>&#xD;-</sku><mpn>${"-".repeat(71)}</mpn></product>`,
  ];
  const answer = await sendProducts(app, product("A"), ...hostile);
  const refused = await refusedOf(app, answer);
  assertEquals(refused.xml.children.length, hostile.length);
  for (const [i, sent] of hostile.entries()) {
    assertStringIncludes(refused.text, sent);
    assertEquals(`<product>${refused.xml.children[i].source}</product>`, sent);
  }
  for (const [comment] of refused.text.matchAll(/<!--[^]*?-->/g)) {
    assertNotMatch(comment.slice(4, -3), /--|-$/);
  }
  assertEquals((await send(app, refused.text)).status, 422);
});

contract.test("the quota is filled in document order", async () => {
  await using app = await boot({ config: { productLimit: 3 } });
  await app.upload(product("A"));
  const answer = await sendProducts(
    app,
    bad("X"),
    product("B"),
    product("C"),
    product("D"),
    "<product><sku>A</sku><quantity>1</quantity></product>",
  );
  assertEquals(results(await app.status(answer)), [
    "X refused title:required price:required quantity:required",
    "B created",
    "C created",
    "D refused sku:quota_exceeded",
    "A updated",
  ]);
});

bothForms.test("accept=valid works with a dry run, an Idempotency-Key and an undo", async () => {
  await using app = await boot();
  const document = `<products>${bad("B")}${product("A")}</products>`;
  const dry = await send(app, document, "&dry_run=true");
  assertEquals(counts(child(dry.xml, "dry_run")), "2 1 0 0 1");
  const headers = { "Idempotency-Key": "k" };
  const first = await send(app, document, "", headers);
  const second = await send(app, document, "", headers);
  assertEquals(first.status, 200);
  assertEquals(second.text, first.text);
  assertEquals(counts(await app.status(first)), "2 1 0 0 1");
  // Without the parameter, the upload is all or nothing.
  assertEquals((await app.upload(product("C") + bad("D"))).status, 422);
  const odd = await app.upload(product("C"), "&accept=all");
  assertEquals([odd.status, codeOf(odd)], [400, "malformed_request"]);
  // If nothing was refused, the answer does not mention refusals.
  const clean = await sendProducts(app, product("C"));
  assertNotMatch(clean.text, /refused/);
  const none = await refusedOf(app, clean);
  assertEquals([none.status, codeOf(none)], [404, "not_found"]);
  const id = textAt(first.xml, "transaction_id");
  const undone = await app.call(`${BULK}/${id}/undo`, { method: "POST" });
  assertEquals(undone.status, 200, undone.text);
  assertEquals((await app.call("/seller_api/products/A")).status, 404);
  const key = await app.addSeller("other");
  const foreign = await app.call(`${BULK}/${id}/refused`, { key });
  assertEquals(foreign.status, 404);
  assertStringIncludes(foreign.text, "No such transaction");
});

contract.test(
  "the refused products kept for a seller are bounded and deleted with their upload",
  async () => {
    await using app = await boot({ config: { bodyLimit: 64 * 1024 } });
    const long = `<product><sku>L</sku><title>${
      "x".repeat(60_000)
    }</title></product>`;
    const uploads: Answer[] = [];
    for (let i = 0; i < 5; i++) {
      uploads.push(await sendProducts(app, product(`A-${i}`), long));
    }
    const answers = [];
    for (const upload of uploads) answers.push(await refusedOf(app, upload));
    assertEquals(answers.map(({ status }) => status), [
      404,
      200,
      200,
      200,
      200,
    ]);
    assertStringIncludes(answers[0].text, "no longer kept");
    assertStringIncludes(answers[4].text, long);
    assertEquals(results(await app.status(uploads[0])), [
      "A-0 created",
      "L refused",
    ]);
    await app.app.db.write((tx) =>
      tx.run("DELETE FROM transactions", [], "any")
    );
    const left = await app.app.db.read(async (sql) => [
      ...await sql.all("SELECT piece FROM refused_pieces"),
      ...await sql.all("SELECT product FROM refused_products"),
    ]);
    assertEquals(left, []);
  },
);

contract.test("accept=valid: images of refused products are not kept", async () => {
  await using host = new ImageHost();
  await using app = await boot();
  const images = (name: string) =>
    `<images><image>${host.url}/good/${name}.png</image></images>`;
  const answer = await app.upload(
    product("A", images("a")) +
      `<product><sku>B</sku>${images("b")}</product>`,
    "&accept=valid",
  );
  assertEquals(answer.status, 200, answer.text);
  const rows = await app.app.db.read((sql) =>
    sql.all<{ url: string }>("SELECT url FROM images")
  );
  assertEquals(rows, [{ url: `${host.url}/good/a.png` }]);
});
