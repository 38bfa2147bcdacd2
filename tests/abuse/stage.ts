/** A service with a seller that has as much of everything as is allowed. */
import { DatabaseSync } from "node:sqlite";
import { OPERATOR, type Service } from "../processes/service.ts";
import { products } from "./attacker.ts";
import { CONTACTS_LIMIT } from "../../src/catalogue/contact.ts";
import { LONG_CONTACT, LONG_MAPPING, ruledCategories } from "./route_inputs.ts";

export interface Stage {
  url: string;
  /** The keys of the seller whose rows are read, and of its neighbour. */
  keys: { bad: string; good: string };
  /** A URL at which nothing listens. */
  hook: string;
  ids: Record<
    "bulk" | "refused" | "import" | "refusedImport" | "longImport" | "unknown",
    string
  >;
}

/** How many imports there are, parts of each, and uploads. */
const IMPORTS = 250;
const PARTS = 200;
const UPLOADS = 250;
const PRICES = 5_000;
const EVENTS = 250;
const MAPPINGS = 40;

const UNKNOWN = "01900000-0000-7000-8000-ffffffffffff";
const idOf = (kind: number, n: number) =>
  `0190000${kind}-0000-7000-8000-${`${n}`.padStart(12, "0")}`;

/** Prepares an idle service with the sellers `bad` and `good`. */
export async function prepareStage(service: Service): Promise<Stage> {
  const { url } = service;
  const keys = {
    bad: service.keys.get("bad")!,
    good: service.keys.get("good")!,
  };
  const call = async (method: string, path: string, body?: string) => {
    const key = path.startsWith("/operator_api") ? OPERATOR : keys.bad;
    const { status, text } = await service.ask(path, { method, key, body });
    if (status >= 400) {
      throw new Error(`${method} ${path}: ${text.slice(0, 400)}`);
    }
    return text;
  };
  const imported = async (document: string, query = "") => {
    const begun = await call(
      "POST",
      `/seller_api/imports?v=1.1${query}`,
      document,
    );
    const id = textIn("import_id", begun);
    for (;;) {
      const path = `/seller_api/imports/${id}?wait=30`;
      if (textIn("finished_at", await call("GET", path)) !== "") return id;
    }
  };
  await call("PUT", "/operator_api/sellers/bad/attribute/rate_limit/0");
  const importId = await imported(products("s", 10_000));
  for (const prefix of ["m-a", "m-b", "m-c", "m-d"]) {
    const long = `<description>${"x".repeat(5_000)}</description>`;
    await call(
      "POST",
      "/seller_api/bulk_products?v=1.1",
      products(prefix, 62, () => long),
    );
  }
  const prices = Array.from(
    { length: 10_000 },
    (_, n) =>
      `<product><sku>s-${n}</sku><price currency="SEK">7</price></product>`,
  );
  const bulk = await call(
    "POST",
    "/seller_api/bulk_attributes?v=1.1",
    `<products>${prices.join("")}</products>`,
  );
  const problems = "<colour>x</colour>".repeat(100);
  const bad = products("r", 249, () => problems)
    .replace("</products>", products("g", 1).slice("<products>".length));
  const refused = await call(
    "POST",
    "/seller_api/bulk_products?v=1.1&accept=valid",
    bad,
  );
  const refusedImport = await imported(
    products("g", 1).replace(
      "</products>",
      `${
        `<product><sku/><title>${"t".repeat(400)}</title></product>`
          .repeat(5_000)
      }</products>`,
    ),
    "&accept=valid&dry_run=true",
  );
  const hook = "http://127.0.0.1:59999/hook";
  await call(
    "POST",
    "/seller_api/webhooks",
    `<webhook><trigger>order_paid</trigger><url>${hook}</url></webhook>`,
  );
  for (let n = 0; n < EVENTS; n++) {
    await call("POST", "/seller_api/webhooks/order_paid/test");
  }
  for (let n = 0; n < CONTACTS_LIMIT; n++) {
    await call("PUT", `/seller_api/contacts/c-${n}`, LONG_CONTACT);
  }
  for (let n = 0; n < MAPPINGS; n++) {
    await call("PUT", `/seller_api/mappings/m-${n}`, LONG_MAPPING);
  }
  await service.ask("/seller_api/bulk_products", {
    key: keys.good,
    body: products("own", 1),
  });
  // Last: no other upload has to satisfy its rules.
  await call("PUT", "/operator_api/categories", ruledCategories());
  addRows(`${service.folder}/seller.db`);
  return {
    url,
    keys,
    hook,
    ids: {
      bulk: textIn("transaction_id", bulk),
      refused: textIn("transaction_id", refused),
      import: importId,
      refusedImport,
      longImport: idOf(0, 0),
      unknown: UNKNOWN,
    },
  };
}

/** The text of the first element of this name; "" if there is none. */
function textIn(name: string, answer: string): string {
  return new RegExp(`<${name}>(.*?)</`).exec(answer)?.[1] ?? "";
}

/** Inserts rows that would take long to create by requests. */
function addRows(file: string): void {
  using db = new DatabaseSync(file, { timeout: 10_000 });
  const numberOf = (sql: string) =>
    Number(Object.values(db.prepare(sql).get()!)[0]);
  const no = numberOf("SELECT seller_no FROM sellers WHERE name = 'bad'");
  const now = Date.now();
  const addImport = db.prepare(
    `INSERT INTO imports (seller_no, id, state, accept_valid, dry_run,
       keep_changed, created_at, over_at, parts, parts_checked, parts_stored,
       products_total, name)
     VALUES (?, ?, 'completed', 0, 0, 0, ?, ?, ?, ?, ?, 50000, 'file.xml')`,
  );
  const addImages = db.prepare(
    "INSERT INTO import_images (seller_no, import_id) VALUES (?, ?)",
  );
  const addUpload = db.prepare(
    `INSERT INTO transactions (seller_no, id, created_at, finished_at,
       products_created, products_updated, products_unchanged,
       products_deleted, products_refused, images_pending, images_stored,
       images_reused, images_failed, import_id, results)
     VALUES (?, ?, ?, ?, 250, 0, 0, 0, 0, 0, 0, 0, 0, ?, '["",[],{}]')`,
  );
  const addPart = db.prepare(
    `INSERT INTO import_parts (seller_no, import_id, part, first_product,
       products, line, start_at, end_at, transaction_id)
     VALUES (?, ?, ?, ?, 250, 1, 0, 0, ?)`,
  );
  const addPrice = db.prepare(
    `INSERT INTO price_changes (seller_no, changed_at, product_id, former_at,
       changes)
     SELECT seller_no, ?, product_id, ?, changes FROM price_changes
     WHERE seller_no = ? AND product_id = (SELECT id FROM products
       WHERE seller_no = ? AND sku = 's-1') LIMIT 1`,
  );
  db.exec("BEGIN");
  for (let n = 0; n < IMPORTS; n++) {
    const id = idOf(0, n);
    addImport.run(no, id, now, now, PARTS, PARTS, PARTS);
    addImages.run(no, id);
    for (let part = 0; part < PARTS; part++) {
      const transaction = idOf(1, n * PARTS + part);
      addUpload.run(no, transaction, now, now, id);
      addPart.run(no, id, part, part * 250 + 1, transaction);
    }
  }
  for (let n = 0; n < UPLOADS; n++) {
    addUpload.run(no, idOf(2, n), now, now, null);
  }
  for (let n = 1; n <= PRICES; n++) {
    addPrice.run(now - n, now - n - 1, no, no);
  }
  db.exec("COMMIT");
}
