import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { writeContact } from "../../src/catalogue/contact_rows.ts";
import { sweepContacts } from "../../src/catalogue/contact_retention.ts";
import { systemClock, systemDeps } from "../../src/deps.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import { CONTACTS_LIMIT } from "../../src/catalogue/contact.ts";
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
import { bothEngines } from "../support/engine.ts";
import { contract } from "../support/forms.ts";

const OPERATED = { config: { operatorKey: "op", rateLimit: 0 } };

const ACME = `<contact><company>Acme AB</company><street>Gatan 1</street>
  <postal_code>123 45</postal_code><city>Lund</city><country>SE</country>
  <email>safety@acme.example</email></contact>`;
const OTHER = `<contact><company>Other Oy</company><street>Katu 2</street>
  <city>Turku</city><country>FI</country><url>https://other.example/x</url>
  </contact>`;

function put(app: TestApp, name: string, body = ACME): Promise<Answer> {
  const path = `/seller_api/contacts/${encodeURIComponent(name)}`;
  return app.call(path, { method: "PUT", body });
}

async function mustPut(app: TestApp, name: string, body = ACME) {
  const answer = await put(app, name, body);
  assertEquals(answer.status, 200, answer.text);
}

function remove(app: TestApp, name: string): Promise<Answer> {
  const path = `/seller_api/contacts/${encodeURIComponent(name)}`;
  return app.call(path, { method: "DELETE" });
}

async function mustUpload(app: TestApp, products: string, query = "") {
  const answer = await app.upload(products, query);
  assertEquals(answer.status, 200, answer.text);
  return answer;
}

function names(manufacturer: string, person = ""): string {
  return `<manufacturer>${manufacturer}</manufacturer>` +
    (person && `<responsible_person>${person}</responsible_person>`);
}

/** The names of contacts in a product as its seller reads it. */
async function readNames(app: TestApp, sku: string): Promise<string[]> {
  const { xml } = await app.call(`/seller_api/products/${sku}`);
  return child(xml, "product").children
    .filter(({ name }) => /^(manufacturer|responsible_person)$/.test(name))
    .map(({ name, text }) => `${name} ${text}`);
}

/** `name company` of the manufacturer of each product in the feed. */
async function feed(app: TestApp): Promise<string[]> {
  const { xml } = await app.call("/operator_api/products", { key: "op" });
  return child(xml, "products").children.map((product) => {
    const maker = product.children.find(({ name }) => name === "manufacturer");
    const of = maker?.children.length ? textAt(maker, "company") : "-";
    return `${textAt(product, "sku")} ${maker?.attributes.name ?? "-"} ${of}`;
  });
}

contract.test("a contact is stored, read, changed, listed and deleted", async () => {
  await using app = await boot();
  const client = app.client();
  const contact = {
    company: "Acme AB",
    street: "Gatan 1",
    postal_code: "123 45",
    city: "Lund",
    country: "SE",
    email: "safety@acme.example",
  };
  await client.contacts.put({ name: "acme", contact });
  await client.contacts.put({
    name: "a/b ü",
    contact: {
      company: "B",
      street: "S",
      city: "C",
      country: "FI",
      url: "https://b.example/x",
    },
  });
  const { contacts } = await client.contacts.list();
  assertEquals(contacts.map(({ name }) => name), ["a/b ü", "acme"]);
  const { contact: read } = await client.contacts.get({ name: "acme" });
  const { updated_at, ...content } = read;
  assertEquals(content, { name: "acme", ...contact });
  assert(!Number.isNaN(Date.parse(updated_at)));

  await client.contacts.put({
    name: "acme",
    contact: { ...contact, city: "Malmö", email: null },
  }).then(
    () => assert(false, "a contact without email and URL is stored"),
    (error) => assertEquals(error.code, "record_invalid"),
  );
  await client.contacts.put({
    name: "acme",
    contact: { ...contact, city: "Malmö" },
  });
  const { contact: changed } = await client.contacts.get({ name: "acme" });
  assertEquals(changed.city, "Malmö");

  const other = app.client({ key: await app.addSeller("other") });
  assertEquals((await other.contacts.list()).contacts, []);
  await client.contacts.delete({ name: "acme" });
  assertEquals((await remove(app, "acme")).status, 404);
  assertEquals((await app.call("/seller_api/contacts/acme")).status, 404);
  assertEquals((await client.contacts.list()).contacts.length, 1);
});

contract.test("every problem of a contact is told", async () => {
  await using app = await boot();
  const long = "x".repeat(201);
  const refused = await put(
    app,
    "acme",
    `<contact><company>${long}</company><street> </street>
      <country>se</country><email>nobody</email>
      <url>ftp://x.example</url><phone>1</phone></contact>`,
  );
  assertEquals(refused.status, 422);
  assertEquals(
    detailsOf(refused).map(({ field, code }) => `${field} ${code}`).sort(),
    [
      "city required",
      "company too_long",
      "country not_in_list",
      "email not_allowed",
      "phone unknown_element",
      "street required",
      "url bad_url",
    ],
  );
  for (const [body, field] of [["<contact/>", "email"], ["<mapping/>", ""]]) {
    const answer = await put(app, "acme", body);
    assertEquals(answer.status, 422, answer.text);
    assertStringIncludes(answer.text, field);
  }
  for (const name of [" ", "x".repeat(65), "a\nb", "a\u0000"]) {
    const answer = await put(app, name);
    assertEquals(answer.status, 422, `${JSON.stringify(name)} ${answer.text}`);
    assertEquals(detailsOf(answer)[0].field, "name");
  }
  // A URL cannot address these.
  for (const name of ["..", "."]) {
    const path = `/seller_api/contacts/${name.replaceAll(".", "%2E")}`;
    const { status } = await app.call(path, { method: "PUT", body: ACME });
    assert(status >= 400 && status < 500, `${name} ${status}`);
  }
  assertEquals((await app.client().contacts.list()).contacts, []);
});

contract.test("products name contacts, and are read as they were sent", async () => {
  await using app = await boot(OPERATED);
  await mustPut(app, "acme");
  await mustPut(app, "other", OTHER);
  await mustUpload(app, product("A", names(" acme ", "other")) + product("B"));
  const { xml } = await app.call("/operator_api/products", { key: "op" });
  const [first] = child(xml, "products").children;
  const maker = child(first, "manufacturer");
  assertEquals(maker.attributes.name, "acme");
  assertEquals(
    maker.children.filter(({ name }) => name !== "id")
      .map(({ name, text }) => `${name} ${text}`),
    [
      "company Acme AB",
      "street Gatan 1",
      "postal_code 123 45",
      "city Lund",
      "country SE",
      "email safety@acme.example",
    ],
  );
  const followed = await app.call("/operator_api/contacts", { key: "op" });
  assertEquals(
    textAt(maker, "id"),
    textAt(child(followed.xml, "contacts").children[0], "id"),
  );
  const after = encodeURIComponent(textAt(followed.xml, "next"));
  const end = await app.call(`/operator_api/contacts?after=${after}`, {
    key: "op",
  });
  assertEquals(end.xml.children.map(({ name }) => name), ["contacts"]);
  assertEquals(
    textAt(first, "responsible_person/url"),
    "https://other.example/x",
  );
  assertEquals(
    await readNames(app, "A"),
    ["manufacturer acme", "responsible_person other"],
  );
  const listed = await app.call("/seller_api/products");
  const again = child(listed.xml, "products").source.replace(
    /^<products>|<\/products>$/g,
    "",
  );
  const status = await app.status(await mustUpload(app, again));
  assertEquals(textAt(status, "products/unchanged"), "2");

  for (
    const [attribute, value, code] of [
      ["manufacturer", "other", 204],
      ["responsible_person", "", 204],
      ["manufacturer", "nobody", 422],
      ["safety_text", "x", 422],
    ] as const
  ) {
    const path = `/seller_api/products/A/attribute/${attribute}/${value}`;
    const answer = await app.call(path, { method: "PUT" });
    assertEquals(answer.status, code, `${attribute} ${answer.text}`);
  }
  assertEquals(await readNames(app, "A"), ["manufacturer other"]);
  const expected = await app.call(
    "/seller_api/products/A/attribute/manufacturer/acme?expected=acme",
    { method: "PUT" },
  );
  assertEquals(expected.status, 412);
  assertStringIncludes(expected.text, "manufacturer is other now");
  const met = await app.call(
    "/seller_api/products/A/attribute/manufacturer/acme?expected=other",
    { method: "PUT" },
  );
  assertEquals(met.status, 204, met.text);

  const bulk = await app.call("/seller_api/bulk_attributes", {
    method: "POST",
    body: "<products><product><sku>B</sku><manufacturer>other</manufacturer>" +
      "</product><product><sku>A</sku><manufacturer/></product></products>",
  });
  assertEquals(bulk.status, 200, bulk.text);
  assertEquals(await readNames(app, "B"), ["manufacturer other"]);
  assertEquals(await readNames(app, "A"), []);
});

contract.test("an unknown contact is refused with the nearest name", async () => {
  await using app = await boot();
  const first = await app.upload(product("A", names("acme")));
  assertStringIncludes(
    detailsOf(first)[0].message,
    "store it first with PUT /seller_api/contacts/:name",
  );
  await mustPut(app, "acme");
  await mustPut(app, "umbrella");
  const refused = await app.upload(
    product("A", names("acne", "Umbrela")) + product("B", names("acme")),
    "&dry_run=true",
  );
  assertEquals(
    detailsOf(refused).map(({ sku, field, code, message }) =>
      `${sku} ${field} ${code} ${/the nearest is (.*)\./.exec(message)?.[1]}`
    ),
    [
      'A manufacturer unknown_contact "acme"',
      'A responsible_person unknown_contact "umbrella"',
    ],
  );
  const valid = await app.upload(
    product("A", names("acne")) + product("B", names("acme")),
    "&accept=valid",
  );
  assertEquals(textAt(valid.xml, "refused"), "1");
  const key = await app.addSeller("other");
  const foreign = await app.call("/seller_api/bulk_products", {
    method: "POST",
    key,
    body: `<products>${product("A", names("acme"))}</products>`,
  });
  assertEquals(detailsOf(foreign)[0].code, "unknown_contact");
  const empty = await app.upload(product("C", "<manufacturer/>"));
  assertEquals(empty.status, 200, empty.text);
});

contract.test("a changed contact changes in the feed of its products, which do not move", async () => {
  await using app = await boot(OPERATED);
  await mustPut(app, "acme");
  await mustUpload(app, product("A", names("acme")));
  await mustUpload(app, product("B"));
  await mustPut(app, "acme", OTHER);
  assertEquals(await feed(app), ["A acme Other Oy", "B - -"]);
  const { contacts } = await app.operator({ key: "op" }).feed.contacts();
  assertEquals(contacts.map(({ name, company }) => `${name} ${company}`), [
    "acme Other Oy",
  ]);
});

contract.test("a product keeps a deleted contact, also when its name is used again", async () => {
  await using app = await boot(OPERATED);
  await mustPut(app, "acme");
  await mustUpload(app, product("A", names("acme")));
  assertEquals((await remove(app, "acme")).status, 200);
  assertEquals(await feed(app), ["A acme Acme AB"]);
  const refused = await app.upload(product("B", names("acme")));
  assertEquals(detailsOf(refused)[0].code, "unknown_contact");
  // The product is sent again as it was read.
  const kept = await app.status(
    await mustUpload(app, product("A", names("acme"))),
  );
  assertEquals(textAt(kept, "products/unchanged"), "1");

  await mustPut(app, "acme", OTHER);
  await mustUpload(app, product("B", names("acme")));
  assertEquals(await feed(app), ["A acme Acme AB", "B acme Other Oy"]);
  const moved = await app.status(
    await mustUpload(app, product("A", names("acme"))),
  );
  assertEquals(textAt(moved, "products/updated"), "1");
  assertEquals(await feed(app), ["B acme Other Oy", "A acme Other Oy"]);
});

contract.test("an undo gives a product its deleted contact back", async () => {
  await using app = await boot(OPERATED);
  await mustPut(app, "acme");
  await mustPut(app, "other", OTHER);
  await mustUpload(app, product("A", names("acme")));
  const changed = await mustUpload(app, product("A", names("other")));
  assertEquals((await remove(app, "acme")).status, 200);
  const id = textAt(changed.xml, "transaction_id");
  const undone = await app.call(`/seller_api/bulk_products/${id}/undo`, {
    method: "POST",
  });
  assertEquals(undone.status, 200, undone.text);
  assertEquals(await feed(app), ["A acme Acme AB"]);
  assertEquals(await readNames(app, "A"), ["manufacturer acme"]);
});

contract.test("operators follow contacts in the order of change, with deleted ones", async () => {
  await using app = await boot(OPERATED);
  for (const name of ["a", "b", "c"]) await mustPut(app, name);
  await mustPut(app, "a", OTHER);
  await mustPut(app, "b"); // as it is
  await remove(app, "c");
  const client = app.operator({ key: "op" });
  const seen: string[] = [];
  let after: string | undefined;
  for (;;) {
    await app.allShown();
    const page = await client.feed.contacts({ after, limit: 1 });
    for (const { seller, name, company, deleted_at } of page.contacts) {
      seen.push(`${seller} ${name} ${deleted_at ? "deleted" : company}`);
    }
    if (page.contacts.length === 0) break;
    after = page.next;
  }
  assertEquals(seen, ["acme b Acme AB", "acme a Other Oy", "acme c deleted"]);
  await mustPut(app, "c");
  await app.allShown();
  const { contacts } = await client.feed.contacts({ after });
  assertEquals(contacts.map(({ name }) => name), ["c"]);
});

const CONTACT = {
  company: "A",
  street: "B",
  city: "C",
  country: "SE",
  email: "a@b.example",
};

bothEngines.test("a seller has a limited number of contacts", async () => {
  await using app = await boot({ config: { rateLimit: 0 } });
  const client = app.client();
  const seller = { id: app.sellerId, no: app.sellerNo, name: "acme" };
  await app.app.db.of(seller.no).write(async (tx) => {
    for (let n = 1; n < CONTACTS_LIMIT; n++) {
      await writeContact(tx, systemDeps("error"), seller, `c${n}`, CONTACT);
    }
  }, { changes: true });
  const answers = await Promise.all(
    ["x", "y", "z"].map((name) => put(app, name)),
  );
  assertEquals(answers.map(({ status }) => status).sort(), [200, 422, 422]);
  const refused = answers.find(({ status }) => status === 422)!;
  assertEquals(codeOf(refused), "record_invalid");
  assertEquals(detailsOf(refused)[0].code, "quota_exceeded");
  await client.contacts.put({ name: "c1", contact: { ...CONTACT, city: "D" } });
  await client.contacts.delete({ name: "c2" });
  await client.contacts.put({ name: "c2", contact: CONTACT });
  const listed = await Array.fromAsync(client.contacts.list());
  assertEquals(listed.length, CONTACTS_LIMIT);
});

contract.test("a category's rule can require a manufacturer, and limit its names", async () => {
  await using app = await boot(OPERATED);
  await mustPut(app, "acme");
  await mustPut(app, "other", OTHER);
  const rules = await app.call("/operator_api/categories", {
    method: "PUT",
    key: "op",
    body: '<categories><category name="Toys">' +
      '<rule field="manufacturer" required="true"><value>acme</value></rule>' +
      '<rule field="safety_text" required="true"/></category></categories>',
  });
  assertEquals(rules.status, 200, rules.text);
  const toys = "<categories><category>Toys</category></categories>";
  const codes = async (more: string) => {
    const answer = await app.upload(product("A", toys + more), "&dry_run=true");
    return answer.status === 200
      ? []
      : detailsOf(answer).map(({ field, code }) => `${field} ${code}`).sort();
  };
  assertEquals(await codes(""), [
    "manufacturer attribute_required",
    "safety_text attribute_required",
  ]);
  const text = "<safety_text>Keep away from fire.</safety_text>";
  assertEquals(await codes(text + names("other")), [
    "manufacturer not_in_list",
  ]);
  assertEquals(await codes(text + names("none")), [
    "manufacturer unknown_contact",
  ]);
  assertEquals(await codes(text + names("acme")), []);
});

bothEngines.test("a deleted contact goes when no product names it and no undo can", async () => {
  await using app = await boot({
    config: { ...OPERATED.config, undoDays: 3 },
  });
  const { db } = app.app;
  /** Sweeps as of this many days from now. */
  const sweepAfter = (days: number) => {
    const now = () => Date.now() + days * DAY_MS;
    const clock = { ...systemClock, now };
    const deps = { ...systemDeps("error"), clock };
    return Array.fromAsync(sweepContacts({ config: app.config, db, deps }));
  };
  const rows = () =>
    db.read((sql) =>
      sql.all<{ name: string }>("SELECT name FROM contacts ORDER BY name")
    ).then((found) => found.map(({ name }) => name).join());
  for (const name of ["live", "named", "undone"]) await mustPut(app, name);
  await mustUpload(app, product("A", names("named")));
  await mustUpload(app, product("B", names("undone")));
  await remove(app, "named");
  await remove(app, "undone");
  await sweepAfter(10);
  const changed = await mustUpload(app, product("B", "<manufacturer/>"));
  // The service itself may sweep at any time.
  await sweepAfter(0);
  await sweepAfter(2);
  assertEquals(await rows(), "live,named,undone");
  const id = textAt(changed.xml, "transaction_id");
  const undone = await app.call(`/seller_api/bulk_products/${id}/undo`, {
    method: "POST",
  });
  assertEquals(undone.status, 200, undone.text);
  await sweepAfter(30);
  assertEquals(await feed(app), ["A named Acme AB", "B undone Acme AB"]);

  await mustUpload(app, product("B", "<manufacturer/>"));
  await sweepAfter(0);
  await sweepAfter(3);
  assertEquals(await rows(), "live,named,undone");
  await sweepAfter(4.1);
  assertEquals(await rows(), "live,named");
  await app.allShown();
  const { contacts } = await app.operator({ key: "op" }).feed.contacts();
  assertEquals(contacts.length, 3);
});

bothEngines.test("deleted contacts go however many there are", async () => {
  await using app = await boot({
    config: { ...OPERATED.config, roles: ["api"], undoDays: 3 },
    app: { maintain: false },
  });
  const { db } = app.app;
  const seller = { id: app.sellerId, no: app.sellerNo, name: "acme" };
  await db.of(seller.no).write(async (tx) => {
    for (let n = 0; n < 120; n++) {
      await writeContact(tx, systemDeps("error"), seller, `c${n}`, CONTACT);
    }
    await tx.run("UPDATE contacts SET deleted_at = updated_at", [], 120);
  }, { changes: true });
  const sweepAfter = async (days: number) => {
    const now = () => Date.now() + days * DAY_MS;
    const deps = { ...systemDeps("error"), clock: { ...systemClock, now } };
    let [steps, deleted] = [0, 0];
    for await (const n of sweepContacts({ config: app.config, db, deps })) {
      deleted += n;
      assert(++steps < 100, "the sweep ends");
    }
    return deleted;
  };
  assertEquals(await sweepAfter(0), 0);
  assertEquals(await sweepAfter(5), 120);
});

bothEngines.test("a contact is deleted while uploads name it: each is refused, or keeps it", async () => {
  await using app = await boot(OPERATED);
  for (let round = 0; round < 5; round++) {
    const name = `c${round}`;
    await mustPut(app, name);
    const [deleted, ...uploads] = await Promise.all([
      remove(app, name),
      ...["A", "B", "C", "D"].map((sku) =>
        app.upload(product(`${sku}${round}`, names(name)))
      ),
    ]);
    assertEquals(deleted.status, 200);
    for (const upload of uploads) {
      if (upload.status === 200) continue;
      assertEquals(detailsOf(upload)[0].code, "unknown_contact");
    }
  }
  for (const line of await feed(app)) {
    assertStringIncludes(line, "Acme AB");
  }
});
