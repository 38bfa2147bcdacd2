/** Imports over HTTP: storing, refusing, listing, cancelling, undoing. */
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { DbError } from "../../src/database/db.ts";
import { systemClock, systemDeps } from "../../src/deps.ts";
import { sweepImports } from "../../src/imports/retention.ts";
import { sweepOld } from "../../src/jobs/sweeps.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import {
  boot,
  child,
  codeOf,
  detailsOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { until } from "../support/clock.ts";
import { Host } from "../support/host.ts";
import { ImageHost } from "../support/image_host.ts";
import { bothEngines } from "../support/engine.ts";
import { bothForms, contract } from "../support/forms.ts";
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

/** The counts of images of an import are the sums of its transactions. */
async function assertImageCounts(app: TestApp, id: string): Promise<void> {
  const sums = (columns: string[]) =>
    columns.map((column) => `CAST(SUM(${column}) AS BIGINT) AS ${column}`)
      .join(", ");
  const names = ["pending", "stored", "reused", "failed"];
  const [counted, summed] = await app.app.db.read(async (sql) => [
    await sql.get(
      `SELECT ${sums(names)} FROM import_images WHERE import_id = ?`,
      [id],
    ),
    await sql.get(
      `SELECT ${sums(names.map((name) => `images_${name}`))}
       FROM transactions WHERE import_id = ?`,
      [id],
    ),
  ]);
  assertEquals(Object.values(counted!), Object.values(summed!));
}

contract.test("an import of several parts is stored, once each, in the order of the document", async () => {
  await using app = await boot();
  const id = idOf(await post(app, products(620), "&name=all.xml"));
  const record = await ended(app, id);
  assertEquals(summaryOf(record), "completed, total 620, created 620");
  assertEquals(textAt(record, "name"), "all.xml");
  assertEquals(textAt(record, "progress"), "100");
  assertEquals(await storedCount(app), 620);
  assertEquals(
    await resultsOf(app, id),
    Array.from({ length: 620 }, (_, n) => `S-${n} created`),
  );
  const again = await ended(app, idOf(await post(app, products(620))));
  assertEquals(summaryOf(again), "completed, total 620, unchanged 620");
});

contract.test("the last page of results has no next, even if it is full", async () => {
  await using app = await boot();
  const id = idOf(await post(app, products(6)));
  await ended(app, id);
  const page = async (query: string) => {
    const answer = await app.call(`${IMPORTS}/${id}/results${query}`);
    return {
      count: child(answer.xml, "results").children.length,
      next: answer.xml.children.find(({ name }) => name === "next")?.text,
    };
  };
  const first = await page("?limit=3");
  assertEquals(first.count, 3);
  const last = { count: 3, next: undefined };
  assertEquals(await page(`?limit=3&after=${first.next}`), last);
  assertEquals(await page("?limit=6"), { ...last, count: 6 });
});

contract.test("parts are not listed among the uploads, and name their import", async () => {
  await using app = await boot();
  const upload = await app.upload(product("A"));
  const id = idOf(await post(app, products(251)));
  await ended(app, id);
  const list = await app.call("/seller_api/bulk_products");
  assertEquals(
    child(list.xml, "transactions").children.map((one) =>
      textAt(one, "transaction_id")
    ),
    [textAt(upload.xml, "transaction_id")],
  );
  const parts = await app.app.db.read((sql) =>
    sql.all<{ id: string }>(
      "SELECT id FROM transactions WHERE import_id IS NOT NULL ORDER BY id",
    )
  );
  assertEquals(parts.length, 2);
  const part = await app.call(`/seller_api/bulk_products/${parts[1].id}`);
  assertEquals(textAt(part.xml, "transaction/import_id"), id);
  assertEquals(textAt(part.xml, "transaction/products/total"), "1");
});

contract.test("if anything is wrong, every problem is reported and nothing is stored", async () => {
  await using app = await boot();
  const wrong = `<product><sku>W-1</sku><title>W</title>
<price>1</price><quantity>1</quantity></product>`;
  const document = `${products(300)}\n${wrong}\n${product("S-7")}`;
  const id = idOf(await post(app, document));
  const record = await ended(app, id);
  assertEquals(summaryOf(record), "refused, total 302, refused 2");
  assertEquals(problemsOf(record), [
    "301 W-1 303 price/@currency required",
    "302 S-7 304 sku duplicate_sku",
  ]);
  assertStringIncludes(
    child(record, "problems").source,
    "product 8 on line 9",
  );
  assertEquals(await storedCount(app), 0);
  assertEquals(await resultsOf(app, id, "&result=refused"), [
    "W-1 refused",
    "S-7 refused",
  ]);
  assertEquals((await resultsOf(app, id, "&result=not_stored")).length, 300);
});

contract.test("accept=valid stores the valid products and returns the refused ones as they were sent", async () => {
  await using app = await boot();
  const wrong = (sku: string) =>
    `<product>\r\n <sku>${sku}</sku><title>ü\u{1f600}</title></product>`;
  const id = idOf(
    await app.call(`${IMPORTS}?accept=valid`, {
      method: "POST",
      body: `\ufeff<products xmlns:x="urn:x">${wrong("W-1")}${products(260)}` +
        `<!-- between -->${wrong("W-2")}</products>`,
    }),
  );
  const record = await ended(app, id);
  assertEquals(
    summaryOf(record),
    "completed_with_errors, total 262, created 260, refused 2",
  );
  assertEquals(
    (await resultsOf(app, id, "", 7)).filter((one) => !one.includes("created")),
    ["W-1 refused", "W-2 refused"],
  );
  const refused = await app.call(`${IMPORTS}/${id}/refused`);
  assertEquals(refused.headers.get("content-type"), "text/xml; charset=utf-8");
  assertStringIncludes(refused.text, '<products xmlns:x="urn:x">');
  assertStringIncludes(refused.text, wrong("W-1"));
  assertStringIncludes(refused.text, wrong("W-2"));
  assertMatch(refused.text, /<!-- product 262 of the import\n {2}line \d+, /);
  assert(!refused.text.includes("S-1"));
  const again = await app.call(`${IMPORTS}?dry_run=true`, {
    method: "POST",
    body: refused.text,
  });
  const checked = await ended(app, idOf(again));
  assertEquals(summaryOf(checked), "refused, total 2, refused 2");
});

bothEngines.test("all refused products are listed and returned, however many there are", async () => {
  await using app = await boot();
  const skus = Array.from({ length: 260 }, (_, n) => `W-${n}`);
  const wrong = skus.map((sku) =>
    `<product><sku>${sku}</sku><title>Without a price</title></product>`
  );
  const id = idOf(await post(app, wrong.join(""), "&accept=valid"));
  const record = await ended(app, id);
  const named = problemsOf(record).map((problem) => problem.split(" ")[1]);
  assertEquals([...new Set(named)], skus);
  assertEquals(new Set(problemsOf(record)).size, named.length, "each once");
  const { text } = await app.call(`${IMPORTS}/${id}/refused`);
  const returned = [...text.matchAll(/<sku>(.*?)<\/sku>/g)];
  assertEquals(returned.map(([, sku]) => sku), skus);
});

contract.test("a dry run counts the changes it would make and stores nothing", async () => {
  await using app = await boot();
  await app.upload(product("S-1"));
  const id = idOf(await post(app, products(255), "&dry_run=true"));
  const record = await ended(app, id);
  assertEquals(
    summaryOf(record),
    "completed, total 255, created 254, unchanged 1",
  );
  assertEquals(textAt(record, "dry_run"), "true");
  assertEquals(await storedCount(app), 1);
  assertEquals((await resultsOf(app, id))[1], "S-1 unchanged");
});

contract.test("a malformed document is refused at once, with its line", async () => {
  await using app = await boot();
  const malformed = await post(app, `${products(400)}\n<product>&</product>`);
  assertEquals(malformed.status, 400);
  assertEquals(codeOf(malformed), "malformed_xml");
  assertEquals(detailsOf(malformed)[0].line, "402");
  assertEquals((await post(app, "")).status, 422);
  const other = await app.call(IMPORTS, { method: "POST", body: "<a/>" });
  assertEquals(detailsOf(other)[0].code, "unknown_element");
  const left = await app.app.db.read(async (sql) => [
    await sql.all("SELECT id FROM imports"),
    await sql.all("SELECT used FROM seller_usage WHERE used <> 0"),
  ]);
  assertEquals(left, [[], []]);
});

contract.test("an unknown element beside the products refuses the document, even with accept=valid", async () => {
  await using app = await boot();
  const document = `${products(2)}\n<produkt/>\n${product("S-2")}`;
  const record = await ended(
    app,
    idOf(await post(app, document, "&accept=valid")),
  );
  assertEquals(summaryOf(record), "refused, total 3");
  assertEquals(problemsOf(record), ["- - 4 produkt unknown_element"]);
  assertEquals(await storedCount(app), 0);
});

contract.test("the same Idempotency-Key returns the first import; another document is refused", async () => {
  await using app = await boot();
  const headers = { "Idempotency-Key": "k" };
  const first = await post(app, products(3), "", headers);
  const second = await post(app, products(3), "", headers);
  assertEquals(idOf(second), idOf(first));
  assertEquals(first.headers.get("idempotent-replayed"), null);
  assertEquals(second.headers.get("idempotent-replayed"), "true");
  for (
    const other of [
      await post(app, products(4), "", headers),
      await app.upload(product("X"), "", headers),
    ]
  ) {
    assertEquals([other.status, codeOf(other)], [
      422,
      "idempotency_key_reused",
    ]);
  }
  const list = await app.call(IMPORTS);
  assertEquals(child(list.xml, "imports").children.length, 1);
});

bothEngines.test("only a product with very many values is refused, in either form", async () => {
  await using app = await boot();
  const many = <T>(value: T): T[] => Array(60_000).fill(value);
  const good = (sku: string) => ({
    sku,
    title: sku,
    price: { amount: "1", currency: "SEK" },
    quantity: 1,
  });
  const bad = [
    { ...good("UNKNOWN"), surplus: many(0) },
    { ...good("TYPE"), title: many("x") },
    { ...good("LIST"), categories: many("x") },
  ];
  for (const [n, one] of bad.entries()) {
    const begun = await app.call(`${IMPORTS}?accept=valid`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "text/xml" },
      body: JSON.stringify({ products: [good(`J-${n}`), one] }),
    });
    const record = await ended(app, idOf(begun));
    assertEquals(
      summaryOf(record),
      "completed_with_errors, total 2, created 1, refused 1",
      one.sku,
    );
  }
  const list = many("<category/>").join("");
  const document = product("X") +
    product("XML", `<categories>${list}</categories>`);
  const record = await ended(
    app,
    idOf(await post(app, document, "&accept=valid")),
  );
  assertEquals(
    summaryOf(record),
    "completed_with_errors, total 2, created 1, refused 1",
  );
});

contract.test("a dry run leaves its Idempotency-Key for the import, and for its undo", async () => {
  await using app = await boot();
  const headers = { "Idempotency-Key": "k" };
  const dry = await post(app, products(3), "&dry_run=true", headers);
  await ended(app, idOf(dry));
  const real = await post(app, products(3), "", headers);
  const id = idOf(real);
  assertEquals(real.headers.get("idempotent-replayed"), null);
  await ended(app, id);
  const undo = (query: string) =>
    app.call(`${IMPORTS}/${id}/undo${query}`, {
      method: "POST",
      headers: { "Idempotency-Key": "undo" },
    });
  await ended(app, idOf(await undo("?dry_run=true")));
  await ended(app, idOf(await undo("")));
  assertEquals(await storedCount(app), 0);
});

contract.test("an SKU that an earlier part changes cannot be named again", async () => {
  await using app = await boot();
  await app.upload(product("OLD"));
  const { product: { id } } = await app.client()
    .products.get({ sku_or_id: "OLD" });
  const renamed = `<product><id>${id}</id><sku>NEW</sku></product>`;
  const document = `${renamed}\n${products(250)}\n${product("OLD")}\n${
    product("NEW")
  }`;
  const record = await ended(app, idOf(await post(app, document)));
  assertEquals(problemsOf(record), [
    "252 OLD 253 sku duplicate_product",
    "253 NEW 254 sku duplicate_sku",
  ]);
});

contract.test("images are requested before anything is stored, and counted", async () => {
  await using host = new Host((request) =>
    new Response(null, {
      status: request.url.endsWith("/missing") ? 404 : 200,
    })
  );
  await using app = await boot();
  const image = (path: string) =>
    `<images><image>${host.url}${path}</image></images>`;
  const document = (path: string) =>
    products(250) + product("I-1", image("/a")) + product("I-2", image(path));
  const refused = await ended(app, idOf(await post(app, document("/missing"))));
  assertEquals(summaryOf(refused), "refused, total 252, refused 1");
  assertEquals(problemsOf(refused), [
    "252 I-2 251 images/image[1] image_unavailable",
  ]);
  const id = idOf(await post(app, document("/b")));
  await until(async () => {
    const answer = await app.call(`${IMPORTS}/${id}`);
    return textAt(answer.xml, "import/status") === "images";
  }, "the images");
  const record = child((await app.call(`${IMPORTS}/${id}`)).xml, "import");
  assertEquals(textAt(record, "images/pending"), "2");
  assertEquals(textAt(record, "finished_at"), "");
  assertEquals(
    host.seen.filter(({ method }) => method === "HEAD").length,
    4,
    "one HEAD for each import and URL",
  );
});

contract.test("the undo of an import reverts all of it, and can be undone", async () => {
  await using app = await boot();
  await app.upload(
    `<product><sku>S-0</sku><title>Before</title><price currency="SEK">1</price><quantity>1</quantity></product>`,
  );
  const id = idOf(await post(app, products(300)));
  assertEquals(
    summaryOf(await ended(app, id)),
    "completed, total 300, created 299, updated 1",
  );
  const path = (of: string) => `${IMPORTS}/${of}/undo`;
  const tried = idOf(
    await app.call(`${path(id)}?dry_run=true`, { method: "POST" }),
  );
  assertEquals(
    summaryOf(await ended(app, tried)),
    "completed, total 300, updated 1, deleted 299",
  );
  const undo = idOf(await app.call(path(id), { method: "POST" }));
  const record = await ended(app, undo);
  assertEquals(
    summaryOf(record),
    "completed, total 300, updated 1, deleted 299",
  );
  assertEquals(textAt(record, "undoes"), id);
  assertEquals(textAt(await ended(app, id), "undone_by"), undo);
  assertEquals(await storedCount(app), 1);
  assertEquals((await app.call(path(id), { method: "POST" })).status, 409);
  const redo = idOf(await app.call(path(undo), { method: "POST" }));
  assertEquals(
    summaryOf(await ended(app, redo)),
    "completed, total 300, created 299, updated 1",
  );
  assertEquals(await storedCount(app), 300);
});

contract.test("an undo is refused if something changed since, unless changed=keep", async () => {
  await using app = await boot();
  const id = idOf(await post(app, products(260)));
  await ended(app, id);
  await app.call("/seller_api/products/S-3/attribute/quantity/9", {
    method: "PUT",
  });
  const path = `${IMPORTS}/${id}/undo`;
  const refused = await ended(
    app,
    idOf(await app.call(path, { method: "POST" })),
  );
  assertEquals(summaryOf(refused), "refused, total 260, refused 1");
  assertMatch(problemsOf(refused)[0], / S-3 - id changed_since$/);
  assertEquals(await storedCount(app), 260);
  const keep = async (query: string) =>
    await ended(
      app,
      idOf(
        await app.call(`${path}?changed=keep${query}`, { method: "POST" }),
      ),
    );
  const tried = await keep("&dry_run=true");
  assertMatch(problemsOf(tried)[0], / S-3 - id changed_since$/);
  const kept = await keep("");
  const problems = kept.children.filter(({ name }) => name === "problems");
  assertEquals(problems, [], "only a dry run lists what it keeps");
  assertEquals(
    summaryOf(kept),
    "completed, total 260, unchanged 1, deleted 259",
  );
  assertEquals(await storedCount(app), 1);
});

contract.test("each product of a refused undo of an import has its own result", async () => {
  await using app = await boot();
  const skus = Array.from({ length: 252 }, (_, n) => `S-${n}`);
  const document = skus.map((sku) => product(sku)).join("");
  const id = idOf(await post(app, document));
  await ended(app, id);
  const changed = ["S-0", "S-249", "S-251"];
  for (const sku of changed) {
    const path = `/seller_api/products/${sku}/attribute/quantity/77`;
    assertEquals((await app.call(path, { method: "PUT" })).status, 204);
  }
  const undo = async (query: string) => {
    const begun = await app.call(`${IMPORTS}/${id}/undo${query}`, {
      method: "POST",
    });
    const undoId = idOf(begun);
    const summary = summaryOf(await ended(app, undoId));
    // The newest part is undone first.
    return { summary, results: (await resultsOf(app, undoId)).toSorted() };
  };
  const expected = (other: string) =>
    skus.map((sku) => `${sku} ${changed.includes(sku) ? "refused" : other}`)
      .toSorted();
  assertEquals(await undo("?dry_run=true"), {
    summary: "refused, total 252, deleted 249, refused 3",
    results: expected("deleted"),
  });
  assertEquals(await undo(""), {
    summary: "refused, total 252, refused 3",
    results: expected("not_stored"),
  });
  assertEquals(await undo("?changed=keep"), {
    summary: "completed, total 252, unchanged 3, deleted 249",
    results: skus.map((sku) =>
      `${sku} ${changed.includes(sku) ? "unchanged" : "deleted"}`
    ).toSorted(),
  });
});

contract.test("an undo is refused at once if no undo record is kept", async () => {
  let now = Date.now();
  const clock = { ...systemClock, now: () => now };
  const config = { undoDays: 0 };
  await using app = await boot({ deps: { clock }, config });
  const id = idOf(await post(app, products(2)));
  await ended(app, id);
  for (const step of [0, -60_000]) {
    now += step;
    const refused = await app.call(`${IMPORTS}/${id}/undo`, { method: "POST" });
    assertEquals(refused.status, 422);
    assertEquals(detailsOf(refused).map(({ code }) => code), ["too_old"]);
  }
});

contract.test("an undo that has begun continues when its records expire", async () => {
  let now = Date.now();
  const clock = { ...systemClock, now: () => now };
  const swept: number[] = [];
  const maybe = async (place: string) => {
    if (place !== "import part of an undo checked" || now > Date.now()) return;
    now += 2 * DAY_MS;
    const deps = { ...systemDeps("error"), clock };
    const services = { db: app.app.db, config: app.config, deps };
    swept.push(...await Array.fromAsync(sweepOld("undo_records", services)));
    swept.push(...await Array.fromAsync(sweepImports(services)));
  };
  const config = { undoDays: 1, keepUploadsDays: 1 };
  await using app = await boot({ deps: { clock, maybe }, config });
  const id = idOf(await post(app, products(300)));
  await ended(app, id);
  const undo = () => app.call(`${IMPORTS}/${id}/undo`, { method: "POST" });
  const record = await ended(app, idOf(await undo()));
  assertEquals(summaryOf(record), "completed, total 300, deleted 300");
  assertEquals(swept, []);
});

contract.test("an old import is deleted although another import is in progress", async () => {
  await using app = await boot({ config: { keepUploadsDays: 1 } });
  const old = idOf(await post(app, products(2)));
  await ended(app, old);
  const open = idOf(await post(app, products(3)));
  await ended(app, open);
  const { config, app: { db } } = app;
  await db.write((tx) =>
    tx.run("UPDATE imports SET over_at = NULL WHERE id = ?", [open], 1)
  );
  const clock = { ...systemClock, now: () => Date.now() + 2 * DAY_MS };
  const deps = { ...systemDeps("error"), clock };
  for await (const _ of sweepImports({ config, db, deps })) continue;
  const left = await db.read((sql) => sql.all("SELECT id FROM imports"));
  assertEquals(left, [{ id: open }]);
});

contract.test("only its seller can delete a finished dry run, with its document", async () => {
  await using app = await boot();
  const other = await app.addSeller("other");
  const flawed = product("BAD", "<gtin>1</gtin>");
  const begun = await post(app, products(300) + flawed, "&dry_run=true");
  const path = `${IMPORTS}/${idOf(begun)}`;
  await ended(app, idOf(begun));
  const strange = await app.call(path, { method: "DELETE", key: other });
  assertEquals(strange.status, 404);
  const deleted = await app.call(path, { method: "DELETE" });
  assertEquals(textAt(deleted.xml, "success"), "true");
  for (const rest of ["", "/results", "/refused"]) {
    assertEquals((await app.call(path + rest)).status, 404);
  }
  const rows = await app.app.db.read((sql) =>
    sql.all(
      `SELECT import_id FROM import_parts UNION SELECT import_id FROM import_pieces
       UNION SELECT import_id FROM import_problems UNION SELECT id FROM imports`,
    )
  );
  assertEquals(rows, []);
  const used = await app.app.db.read((sql) =>
    sql.all("SELECT used FROM seller_usage WHERE resource = 'import_bytes'")
  );
  assertEquals(used, [{ used: 0 }]);
});

bothForms.test("a dry run is deleted although the database fails meanwhile, and the next sweep deletes the rest", async () => {
  let isBroken = false;
  await using app = await boot({
    config: { databaseUrl: null, keepUploadsDays: 0 },
    deps: {
      beforeCommit: async () => {
        if (isBroken && await hidden()) throw new DbError("full", "on purpose");
      },
    },
  });
  const { db } = app.app;
  const hidden = async () =>
    await db.read((sql) =>
      sql.get("SELECT 1 FROM imports WHERE state = 'deleting'")
    ) !== undefined;
  const id = idOf(await post(app, products(300), "&dry_run=true"));
  await ended(app, id);
  // More rows than one write deletes.
  await db.write((tx) =>
    tx.runMany(
      `INSERT INTO import_pieces (seller_no, import_id, piece, bytes)
       VALUES (?, ?, ?, ?)`,
      Array.from(
        { length: 40 },
        (_, n) => [app.sellerNo, id, 100 + n, new Uint8Array(1)],
      ),
      1,
    )
  );
  isBroken = true;
  const deleted = await app.call(`${IMPORTS}/${id}`, { method: "DELETE" });
  assertEquals(deleted.status, 200);
  assert(await hidden());
  assertEquals((await app.call(`${IMPORTS}/${id}`)).status, 404);
  isBroken = false;
  const services = { config: app.config, deps: systemDeps("error"), db };
  for await (const _ of sweepImports(services)) continue;
  const left = await db.read((sql) =>
    sql.all("SELECT import_id FROM import_pieces UNION SELECT id FROM imports")
  );
  assertEquals(left, []);
});

contract.test("the failed images of an import are fetched again", async () => {
  await using host = new ImageHost();
  await using app = await boot({ config: { roles: ["api", "images"] } });
  const image = (path: string) =>
    `<images><image>${host.url}${path}</image></images>`;
  const lost = ["/gone/a.png", "/gone/b.png"];
  const document = product("A", image(lost[0])) + products(250) +
    product("B", image(lost[1]));
  const id = idOf(await post(app, document));
  const record = await ended(app, id);
  assertEquals(textAt(record, "status"), "completed_with_errors");
  assertEquals(textAt(record, "images/failed"), "2");
  await assertImageCounts(app, id);
  for (const path of lost) {
    host.answers.set(path, () => fetch(`${host.url}/good${path.slice(5)}`));
  }
  const path = `${IMPORTS}/${id}/images/retry`;
  const other = await app.addSeller("other");
  const strange = await app.call(path, { method: "POST", key: other });
  assertEquals(strange.status, 404);
  const retried = await app.call(path, { method: "POST" });
  assertEquals(textAt(retried.xml, "retried"), "2");
  await assertImageCounts(app, id);
  assertEquals(textAt(await ended(app, id), "status"), "completed");
  await assertImageCounts(app, id);
});

contract.test("a finished import cannot be cancelled; one that hangs can", async () => {
  const gate = Promise.withResolvers<void>();
  await using host = new Host(async () => {
    await gate.promise;
    return new Response();
  });
  await using app = await boot();
  const id = idOf(await post(app, products(2)));
  await ended(app, id);
  const over = await app.call(`${IMPORTS}/${id}`, { method: "DELETE" });
  assertEquals([over.status, codeOf(over)], [409, "conflict"]);
  const image = `<images><image>${host.url}/a</image></images>`;
  const hangs = idOf(await post(app, product("H", image)));
  await until(() => host.seen.length > 0, "the HEAD");
  const cancelled = await app.call(`${IMPORTS}/${hangs}`, { method: "DELETE" });
  assertEquals(textAt(cancelled.xml, "success"), "true");
  gate.resolve();
  assertEquals(
    summaryOf(await ended(app, hangs)),
    "cancelled, total 1",
  );
  const reported = await app.call(`${IMPORTS}/${hangs}/results`);
  assertEquals(
    child(reported.xml, "results").children.map(({ source }) => source),
    ["<result>not_stored</result>"],
    "what was never checked is told, too",
  );
  assertEquals(await storedCount(app), 2);
});

bothForms.test("too many products are reported", async () => {
  await using app = await boot();
  const many = await post(app, "<product/>".repeat(50_001));
  assertEquals([many.status, codeOf(many)], [413, "too_many_products"]);
});

bothEngines.test("too many bytes and a full quota are reported", async () => {
  await using app = await boot({
    config: { importLimit: 10_000_000, imageQuota: 5_000_000, rateLimit: 0 },
  });
  const long = await post(app, `<!--${" ".repeat(10_000_000)}-->`);
  assertEquals([long.status, codeOf(long)], [413, "body_too_large"]);
  const full = await post(app, `<!--${" ".repeat(6_000_000)}-->`);
  assertEquals(detailsOf(full)[0].code, "quota_exceeded");
  const left = await app.app.db.read((sql) =>
    sql.all("SELECT id FROM imports")
  );
  assertEquals(left, []);
});

contract.test("an import's events are progress, then final", async () => {
  await using app = await boot();
  const id = idOf(await post(app, products(600)));
  const stream = await app.call(`${IMPORTS}/${id}`, {
    headers: { Accept: "text/event-stream" },
  });
  const events = stream.text.trim().split("\n\n")
    .filter((event) => event.startsWith("event"));
  assertMatch(events.at(-1)!, /^event: final\ndata: <import>.*completed/);
  const progress = events.map((event) =>
    Number(/<progress>(\d+)/.exec(event)![1])
  );
  assertEquals(progress, progress.toSorted((a, b) => a - b));
});

contract.test("a seller cannot see another one's imports", async () => {
  await using app = await boot();
  const id = idOf(await post(app, products(1)));
  await ended(app, id);
  const key = await app.addSeller("other");
  for (const path of ["", "/results", "/refused"]) {
    const answer = await app.call(`${IMPORTS}/${id}${path}`, { key });
    assertEquals([answer.status, codeOf(answer)], [404, "not_found"]);
  }
  for (const call of [{ method: "DELETE" }, { method: "POST" }]) {
    const path = `${IMPORTS}/${id}${call.method === "POST" ? "/undo" : ""}`;
    assertEquals((await app.call(path, { ...call, key })).status, 404);
  }
  const list = await app.call(IMPORTS, { key });
  assertEquals(child(list.xml, "imports").children, []);
});
