/** Which documents of imports are kept, and for how long. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { systemDeps } from "../../src/deps.ts";
import { sweepImportDocuments } from "../../src/imports/retention.ts";
import { DAY_MS, MINUTE_MS } from "../../src/lib/durations.ts";
import {
  boot,
  child,
  detailsOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { until } from "../support/clock.ts";
import { contract } from "../support/forms.ts";

const IMPORTS = "/seller_api/imports";
const FLAW = "<gtin>1</gtin>";

/** Products, every tenth of which has a problem. */
function products(count: number, flaw = FLAW): string {
  const filling = `<description>${"x".repeat(900)}</description>`;
  return Array.from(
    { length: count },
    (_, n) => product(`P${n}`, (n % 10 === 9 ? flaw : "") + filling),
  ).join("\n");
}

/** Imports a document, and waits for the end; returns the id. */
async function imported(
  app: TestApp,
  body: string,
  query = "",
): Promise<string> {
  const begun = await app.call(`${IMPORTS}?v=1.1${query}`, {
    method: "POST",
    body: `<products xmlns:a="urn:a">\n${body}\n</products>`,
  });
  assertEquals(begun.status, 200, begun.text);
  const id = textAt(begun.xml, "import_id");
  for (;;) {
    const { xml } = await app.call(`${IMPORTS}/${id}?wait=30`);
    if (textAt(child(xml, "import"), "finished_at") !== "") return id;
  }
}

async function importBytes(app: TestApp): Promise<number> {
  const { xml } = await app.call("/seller_api/account");
  return Number(textAt(xml, "account/import_bytes"));
}

/** The bytes of all rows that belong to imports. */
async function keptBytes(app: TestApp): Promise<number> {
  const row = await app.app.db.read((sql) =>
    sql.get<{ n: number }>(
      `SELECT CAST(
         COALESCE((SELECT SUM(length(bytes)) FROM import_pieces), 0) +
         COALESCE((SELECT SUM(length(root)) FROM imports), 0) +
         COALESCE((SELECT SUM(length(sent)) FROM import_problems), 0) +
         COALESCE((SELECT SUM(length(details)) FROM import_problems), 0)
       AS BIGINT) AS n`,
    )
  );
  return row!.n;
}

contract.test("a finished import keeps only its refused products, which count against the quota", async () => {
  await using app = await boot();
  const valid = await imported(app, products(600, ""));
  const record = await app.call(`${IMPORTS}/${valid}`);
  assertEquals(textAt(record.xml, "import/status"), "completed");
  await until(async () => await importBytes(app) === 0, "all is given back");
  assertEquals(await keptBytes(app), 0);
  const id = await imported(app, products(600), "&accept=valid");
  const kept = () => importBytes(app);
  await until(async () => {
    const rows = await app.app.db.read((sql) =>
      sql.all("SELECT 1 FROM import_pieces")
    );
    return rows.length === 0;
  }, "the document goes");
  await until(async () => await kept() === await keptBytes(app), "it counts");
  assert(await kept() > 60 * 900 && await kept() < 61 * 1_800);
  const refused = await app.call(`${IMPORTS}/${id}/refused`);
  assertEquals(refused.status, 200);
  assertEquals(refused.text.match(/<product>/g)?.length, 60);
  const again = await app.call(`${IMPORTS}?v=1.1&dry_run=true`, {
    method: "POST",
    body: refused.text.replaceAll(FLAW, ""),
  });
  assertEquals(again.status, 200, "its root is whole");
});

contract.test("a dry run keeps its document for a day; its refused products stay the same at each step", async () => {
  await using app = await boot();
  const { db } = app.app;
  const query = "&dry_run=true&accept=valid";
  const id = await imported(app, products(2_600), query);
  const deps = systemDeps("error");
  /** Runs one portion of the sweep, as if the process died after it. */
  const portion = async (later: number) => {
    const clock = { ...deps.clock, now: () => deps.clock.now() + later };
    const sweep = sweepImportDocuments({ deps: { ...deps, clock }, db });
    return (await sweep.next()).done;
  };
  assert(await portion(DAY_MS - 10 * MINUTE_MS), "nothing goes before a day");
  const refused = async () => (await app.call(`${IMPORTS}/${id}/refused`)).text;
  const whole = await refused();
  assertEquals(whole.match(/<product>/g)?.length, 260);
  assertStringIncludes(whole, '<products xmlns:a="urn:a">');
  let portions = 0;
  while (!await portion(DAY_MS)) {
    portions++;
    assertEquals(await refused(), whole, `after portion ${portions}`);
  }
  assert(portions > 2, `${portions}`);
  assertEquals(await importBytes(app), await keptBytes(app));
  assertEquals(
    await db.read((sql) => sql.all("SELECT 1 FROM import_pieces")),
    [],
  );
  await app.call(`${IMPORTS}/${id}`, { method: "DELETE" });
  assertEquals(await importBytes(app), 0);
});

contract.test("a document may fill the quota, and no byte more", async () => {
  const body = products(1_000, "");
  let quota: number;
  {
    await using app = await boot();
    await imported(app, body, "&dry_run=true&accept=valid");
    quota = await importBytes(app);
  }
  for (const [imageQuota, status] of [[quota, 200], [quota - 1, 422]]) {
    await using app = await boot({ config: { imageQuota } });
    const begun = await app.call(
      `${IMPORTS}?v=1.1&dry_run=true&accept=valid`,
      {
        method: "POST",
        body: `<products xmlns:a="urn:a">\n${body}\n</products>`,
      },
    );
    assertEquals(begun.status, status, begun.text);
  }
});

contract.test("beyond the quota the message says what images and documents take", async () => {
  await using app = await boot({ config: { imageQuota: 1_500_000 } });
  await imported(app, products(1_000), "&dry_run=true&accept=valid");
  const taken = await importBytes(app);
  assert(taken > 1_000_000);
  const refused = await app.call(`${IMPORTS}?v=1.1`, {
    method: "POST",
    body: `<products>${products(1_000)}</products>`,
  });
  assertEquals(refused.status, 422);
  const [{ code, message }] = detailsOf(refused);
  assertEquals(code, "quota_exceeded");
  assertStringIncludes(
    message,
    `is 1500000 bytes, of which images take 0 and documents of imports ${taken}`,
  );
});
