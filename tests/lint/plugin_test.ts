/// <reference lib="deno.unstable" />
import { assertEquals } from "@std/assert";
import plugin from "./plugin.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/**
 * Runs all rules on a module; returns the names of those that reported
 * something.
 */
function lint(module: string, text: string): string[] {
  return Deno.lint.runPlugin(plugin, `${ROOT}${module}`, text)
    .map(({ id, range: [from, to] }) => `${id}: ${text.slice(from, to)}`);
}

Deno.test("an array of unknown length is not spread into a call", () => {
  const cases: [string, boolean][] = [
    ["a.push(...rows);", false],
    ["a.push(\n  ...rows.map((b) => [...b]),\n);", false],
    ["Math.max(0, ...xs);", false],
    ["String.fromCharCode(...codes);", false],
    ["a.splice(0, 1, ...xs);", false],
    ["a.b\n  .push(...rows);", false],
    ["a.push({ ...row, n: 1 }, [...b]);", true],
    ['a.push("...", `...`);', true],
    ["// bounded: two at most\na.push(...rows);", true],
    ["a\n  .push(...rows); // bounded: two at most", true],
    ["a.push(b); c(...d);", true],
  ];
  for (const [text, right] of cases) {
    const found = lint("src/http/routes.ts", text).length === 0;
    assertEquals(found, right, text);
  }
});

Deno.test("a module imports from its own folder and from layers below", () => {
  const cases: [string, string, boolean][] = [
    ["http/routes.ts", "./query.ts", true],
    ["http/routes.ts", "../catalogue/product.ts", true],
    ["http/routes.ts", "../cli/main.ts", false],
    ["lib/url.ts", "../deps.ts", false],
    ["deps.ts", "./lib/url.ts", true],
    ["xml/decode.ts", "../net/dial.ts", false],
    ["catalogue/upload.ts", "../images/image.ts", true],
    ["images/requests.ts", "../catalogue/upload.ts", false],
    ["imports/store.ts", "../reviews/policy.ts", false],
    ["reviews/policy.ts", "../webhooks/ingest.ts", true],
    ["sellers/access.ts", "../administration/removal.ts", false],
    ["administration/removal.ts", "../sellers/access.ts", true],
    ["monitoring/audit.ts", "../services.ts", true],
    ["jobs/loop.ts", "../services.ts", false],
    ["services.ts", "./sellers/refusals.ts", true],
    ["services.ts", "./http/routes.ts", false],
    ["catalogue/upload.ts", "../http/routes.ts", false],
    ["catalogue/upload.ts", "../unknown/list.ts", false],
    ["unknown/list.ts", "../lib/url.ts", false],
  ];
  for (const [module, path, right] of cases) {
    for (
      const text of [
        `import { a } from "${path}";`,
        `import type { A } from "${path}";`,
        `export * from "${path}";`,
        `export { a } from "${path}";`,
        `await import("${path}");`,
      ]
    ) {
      assertEquals(
        lint(`src/${module}`, text),
        right ? [] : [`seller/imports-by-layer: "${path}"`],
        `${module}: ${text}`,
      );
    }
  }
});

Deno.test("a folder of the page imports from itself, its neighbours and below", () => {
  const imports = (module: string, path: string) =>
    lint(`src/web/${module}`, `import "${path}";`).length === 0;
  const cases: [string, string, boolean][] = [
    ["import/read/csv.ts", "../../lib/slices.ts", true],
    ["import/read/csv.ts", "../columns/headers.ts", false],
    ["import/read/workbook/book.ts", "../csv.ts", true],
    ["import/read/workbook/book.ts", "../../columns/headers.ts", false],
    ["import/intake.ts", "./read/csv.ts", true],
    ["import/send/upload.ts", "../intake.ts", false],
    ["ui/grid.tsx", "../import/repair/repair.ts", false],
    ["products/selection.tsx", "../uploads/refusals.tsx", true],
    ["import/columns/spreadsheet.ts", "../../products/draft.ts", false],
    ["shell/app.tsx", "../import/open.ts", true],
    ["state/route.ts", "../shell/app.tsx", false],
    ["more/new.ts", "../lib/store.ts", false],
    // Draws.
    ["import/check/questions.ts", "../../ui/components.tsx", false],
    ["import/file.tsx", "../ui/components.tsx", true],
  ];
  for (const [module, path, right] of cases) {
    assertEquals(imports(module, path), right, `${module}: ${path}`);
  }
});

Deno.test("only a feature's top modules are imported from outside it", () => {
  const imports = (module: string, path: string) =>
    lint(`src/${module}`, `import "${path}";`).length === 0;
  const worker = "../images/worker/role.ts";
  assertEquals(imports("http/routes.ts", worker), false);
  assertEquals(imports("webhooks/ingest.ts", worker), false);
  assertEquals(imports("images/verify.ts", "./worker/role.ts"), true);
  assertEquals(imports("roles.ts", "./images/worker/role.ts"), true);
  assertEquals(imports("http/routes.ts", "../images/storage/open.ts"), true);
});

Deno.test("time, randomness and the console are used in few modules", () => {
  const uses = [
    "Date.now()",
    "new Date()",
    "Date()",
    "performance.now()",
    "Math.random()",
    "crypto.randomUUID()",
    "crypto.getRandomValues(bytes)",
    "setTimeout(fn, 1)",
    "setInterval(fn, 1)",
    "setImmediate(fn)",
    "AbortSignal.timeout(1)",
    "console.error(1)",
    "now(Date.now)",
  ];
  for (const use of uses) {
    assertEquals(lint("src/http/routes.ts", use).length, 1, use);
    assertEquals(lint("src/deps.ts", use), [], use);
  }
  for (const text of ["new Date(0)", "clock.now()", "Date.UTC(1970)"]) {
    assertEquals(lint("src/http/routes.ts", text), [], text);
  }
});

Deno.test("a regular expression is a literal, which can be checked", () => {
  assertEquals(lint("src/http/routes.ts", String.raw`const a = /\s+/;`), []);
  assertEquals(lint("src/http/routes.ts", "const a = /(b|b)*/;"), [
    "seller/linear-regular-expressions: /(b|b)*/",
  ]);
  assertEquals(lint("src/http/routes.ts", "RegExp(a); new RegExp(a);"), [
    "seller/built-regular-expressions: RegExp(a)",
    "seller/built-regular-expressions: new RegExp(a)",
  ]);
});

Deno.test("each statement of the source declares what it does", () => {
  const cases: [string, boolean][] = [
    ["sql.all(`SELECT 1 ORDER BY id LIMIT ?`);", false],
    ['const a = "SELECT 1 LIMIT ?";', false],
    ["sql.all(`SELECT 1 ORDER BY id ${LIMIT}`);", true],
    ["tx.all<T>(`UPDATE a SET b = 1 RETURNING b`);", false],
    ["tx.get(query(() => `${a} RETURNING b`));", false],
    ["tx.returning(`UPDATE a SET b = 1 RETURNING b`);", true],
  ];
  for (const [text, right] of cases) {
    const found = lint("src/sellers/seller_rows.ts", text).length === 0;
    assertEquals(found, right, text);
  }
});

Deno.test("nothing is reported outside of src", () => {
  const text = "import '../cli/main.ts'; a.push(...b, Date.now(), RegExp(c));";
  assertEquals(lint("src/http/routes.ts", text).length, 4);
  assertEquals(lint("tests/http/routes_test.ts", text), []);
});

Deno.test("a statement on rows of sellers declares of which sellers", () => {
  const cases: [string, boolean][] = [
    ['sql.get("SELECT 1 FROM events WHERE id = ?", [id]);', false],
    ['sql.get("SELECT 1 FROM events LIMIT 1");', false],
    ['const A = "DELETE FROM events WHERE id = ?";', false],
    ["sql.all(`SELECT 1 FROM events\n WHERE ${condition}`);", false],
    ["sql.all(`SELECT 1 FROM sellers JOIN events USING (seller_no)`);", false],
    ['tx.run("UPDATE images SET due_at = ? WHERE due_at > ?", []);', false],
    ["sql.all(`SELECT 1 FROM events WHERE ${c} ${inReach()}`);", true],
    ["sql.all(`SELECT 1 FROM images WHERE id = ? ${EVERY_SELLER}`);", true],
    ['tx.run("DELETE FROM events WHERE seller_no = ? AND id = ?");', true],
    [
      'const find = () => { const c = "seller_no = ?"; ' +
      "sql.all(`SELECT 1 FROM events WHERE ${c}`); };",
      true,
    ],
    ['const SELECT = "SELECT id FROM events";', true],
    ['sql.all("SELECT name FROM sellers WHERE id = ?", [id]);', true],
    ['const TEXT = "The events of a seller, from images";', true],
  ];
  for (const [text, right] of cases) {
    const found = lint("src/webhooks/event_feed.ts", text);
    const rules = found.map((one) => one.split(":")[0]);
    assertEquals(rules, right ? [] : ["seller/named-sellers"], text);
  }
});
