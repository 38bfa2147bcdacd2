/** The commands with which an operator manages sellers and keys. */
import {
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { systemDeps } from "../../src/deps.ts";
import { UsageError } from "../../src/cli/command.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { ServiceError } from "../../src/lib/errors.ts";
import { unescaped } from "../../src/lib/markup.ts";
import { addUsage } from "../../src/sellers/usage_rows.ts";
import { boot, product, type TestApp } from "../support/app.ts";
import { runCommand } from "../support/command.ts";

const deps = systemDeps("error");

const run = ({ config }: TestApp, ...words: string[]) =>
  runCommand({ config, deps }, ...words);

/** Removes values that differ between runs: times, ids, keys. */
function plain(line: string): string {
  return line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID");
}

/** The first message of a refusal. */
async function refusal(running: Promise<unknown>): Promise<string> {
  const error = await assertRejects(() => running, ServiceError);
  return error.details[0]?.message ?? error.message;
}

Deno.test("seller set changes sellers of a running service, or names the valid values", async () => {
  await using app = await boot();
  const set = (...words: string[]) => run(app, "seller", "set", ...words);
  const status = async () => (await app.call("/seller_api/products")).status;
  assertEquals(await set("acme", "product_limit", "1"), ["product_limit: 1"]);
  assertEquals((await app.upload(product("A") + product("B"))).status, 422);
  assertEquals(await set("acme", "product_limit", ""), [
    "product_limit: default",
  ]);
  assertEquals((await app.upload(product("A") + product("B"))).status, 200);
  assertEquals(await set("acme", "status", "suspended"), ["status: suspended"]);
  assertMatch((await run(app, "seller", "list"))[0], / {2}suspended {2}acme$/);
  assertEquals(await set("acme", "status", "active"), ["status: active"]);
  assertEquals(await set("acme", "name", "acme-2"), ["name: acme-2"]);
  assertEquals(await status(), 200, "its key goes on");
  assertMatch(await refusal(set("acme", "status", "active")), /acme/);
  assertMatch(await refusal(set("acme-2", "status", "gone")), /suspended/);
  assertMatch(await refusal(set("acme-2", "colour", "red")), /colour/);
  const { summary } = COMMANDS.find(({ name }) => name === "seller set")!;
  for (
    const [attribute, unit] of [
      ["image_quota", "bytes"],
      ["product_limit", "products"],
      ["rate_limit", "requests a minute"],
    ]
  ) {
    assertMatch(
      await refusal(set("acme-2", attribute, "100KB")),
      new RegExp(`must be a whole number of ${unit} from 0 to `),
    );
    assertStringIncludes(summary, `${attribute} (${unit})`);
  }
  const changes = (await run(app, "audit", "list")).map(plain);
  assertEquals(changes.length, 5, "refused ones leave no entry");
  assertMatch(changes[0], /^TIME {2}command line {2}seller set {2}acme/);
});

Deno.test("seller list --quota lists the sellers near a quota, and how near they are", async () => {
  await using app = await boot({ config: { productLimit: 5 } });
  const near = (percent: string) =>
    run(app, "seller", "list", "--quota", percent);
  await run(app, "seller", "add", "idle");
  await app.upload(product("A") + product("B") + product("C") + product("D"));
  assertEquals(await near("80"), ["acme  4 of 5 products"]);
  assertEquals(await near("81"), []);
  await run(app, "seller", "set", "acme", "product_limit", "0");
  assertEquals(await near("100"), ["acme  4 of 0 products"]);
  await run(app, "seller", "set", "acme", "product_limit", "");
  await run(app, "seller", "set", "acme", "image_quota", "600");
  await app.app.db.write((tx) => addUsage(tx, 1, "image_bytes", 200));
  await app.app.db.write((tx) => addUsage(tx, 1, "import_bytes", 300));
  assertEquals(await near("81"), [
    "acme  500 of 600 bytes of images, 300 of them for documents of imports",
  ]);
  const { mistakes } = await assertRejects(() => near("most"), UsageError);
  assertMatch(mistakes[0], /^--quota .*a whole number of percent, 0 to 100/);
});

Deno.test("seller refusals lists the problems, product by product", async () => {
  await using app = await boot();
  assertEquals(await run(app, "seller", "refusals", "acme"), []);
  await app.upload(product("A", "\n<gtin>1</gtin>"));
  await app.call("/seller_api/refusals"); // writes pending changes
  const [head, key, detail, ...rest] = await run(
    app,
    "seller",
    "refusals",
    "acme",
  );
  assertEquals(
    plain(head),
    "TIME  ID  422  record_invalid  POST /seller_api/bulk_products",
  );
  assertMatch(key, /^ {4}key [-0-9a-f]{36}, from 127\.0\.0\.1$/);
  assertMatch(
    detail,
    /^ {4}product 1, SKU A, line 2, out_of_range: gtin /,
  );
  assertEquals(rest, []);
  assertMatch(
    await refusal(run(app, "seller", "refusals", "nobody")),
    /nobody/,
  );
  const found = async (...flags: string[]) =>
    (await run(app, "seller", "refusals", "acme", ...flags)).length;
  assertEquals(await found("--code", "out_of_range"), 3);
  assertEquals(await found("--code", "too_long"), 0);
  assertEquals(await found("--route", "POST /seller_api/bulk_products"), 3);
  assertEquals(await found("--route", "POST /seller_api/imports"), 0);
  const wrong = ["--code", "nosuch", "--route", "bulk_products"];
  const { mistakes } = await assertRejects(
    () => found(...wrong, "--since", "2026-11-25 14:00"),
    UsageError,
  );
  const { text } = await app.call(
    "/seller_api/refusals?code=nosuch&route=bulk_products",
  );
  assertEquals(
    mistakes.slice(1).map((mistake) =>
      unescaped(text).includes(mistake.slice(2))
    ),
    [true, true],
    `${mistakes}`,
  );
  assertEquals(mistakes.slice(0, 1), [
    '--since is "2026-11-25 14:00", without a zone; write ' +
    '"2026-11-25T14:00Z" for UTC, or another zone, such as +01:00, instead of Z.',
  ]);
});

Deno.test("seller refusals: without results it says what was searched, and suggests a route", async () => {
  await using app = await boot();
  const reported: string[] = [];
  const refusals = (...flags: string[]) =>
    runCommand(
      {
        config: app.config,
        deps,
        printError: (line) => reported.push(plain(line)),
      },
      ...["seller", "refusals", "acme", ...flags],
    );
  const ending =
    "; failures of the service (5xx) are only in its log, as request_refused";
  assertEquals(await refusals(), []);
  assertEquals(reported.splice(0), [
    `no refused request in the last 30 days${ending}`,
  ]);
  await app.upload(product("A", "\n<gtin>1</gtin>"));
  await app.call("/seller_api/refusals"); // writes pending changes
  assertEquals(await refusals("--route", "POST /seller_api/imports"), []);
  assertEquals(reported.splice(0), [
    `no such refusal among those that are kept (1, since TIME)${ending}`,
  ]);
  for (
    const [route, meant] of [
      ["POST /seller_api/bulk_product", "POST /seller_api/bulk_products"],
      [
        "PUT /seller_api/products/A-1/attribute/price/9.90",
        "PUT /seller_api/products/:sku_or_id/attribute/:attribute/:value",
      ],
      ["POST /seller_api/products", "GET /seller_api/products"],
    ]
  ) {
    const { mistakes } = await assertRejects(
      () => refusals("--route", route),
      UsageError,
    );
    assertEquals(mistakes, [
      `--route is "${route}", which is no route; did you mean "${meant}"?`,
    ]);
  }
});

Deno.test("keys have labels, prefixes and a time of last use", async () => {
  await using app = await boot();
  const added = await run(app, "key", "add", "acme", "--label", "ERP");
  const [id, key] = added.map((line) => line.split(": ")[1]);
  const list = async () =>
    (await run(app, "key", "list", "acme")).map(plain).at(-1);
  const [, prefix] =
    /^ID {2}TIME {2}(\S+) {2}never used {2}active {2}(?:\w+,?){4} {2}everywhere {2}ERP$/
      .exec((await list())!)!;
  assertEquals(key.startsWith(prefix), true, prefix);
  assertEquals(await run(app, "key", "revoke", id.toUpperCase()), [
    `revoked: ${id}`,
  ]);
  assertMatch((await list())!, /revoked TIME {2}.* {2}ERP$/);
});

Deno.test("a key is made with scopes, an end and networks", async () => {
  await using app = await boot();
  const words = [
    "--scopes",
    "webhooks, read",
    "--networks",
    "10.0.0.0/8,::1/128",
  ];
  const end = ["--expires-at", "2999-01-01"];
  await run(app, "key", "add", "acme", ...words, ...end);
  const list = await run(app, "key", "list", "acme");
  assertMatch(
    list.at(-1)!,
    / {2}active until 2999-01-01T00:00:00.000Z {2}read,webhooks {2}10.0.0.0\/8,::1\/128$/,
  );
  for (
    const [flag, value, said] of [
      ["--scopes", "write", /"write"; scopes are read, products/],
      ["--networks", "10.0.0.1", /"10.0.0.1"; write a network/],
      ["--expires-at", "2020-01-01", /it must be later than/],
    ] as const
  ) {
    assertMatch(
      await refusal(run(app, "key", "add", "acme", flag, value)),
      said,
    );
  }
  assertEquals((await run(app, "key", "list", "acme")).length, list.length);
});

Deno.test("operator keys are made, listed and revoked; the audit log has each change", async () => {
  await using app = await boot();
  const operate = (key: string, method = "GET") =>
    app.call("/operator_api/sellers", { key, method, body: undefined });
  assertEquals((await operate("any")).status, 404, "there is no key yet");
  const add = async (...words: string[]) => {
    const [line] = await run(app, "operator-key", "add", ...words);
    return /^operator_key: (\S+)$/.exec(line)![1];
  };
  const full = await add("anna");
  const reader = await add("grafana", "--read-only");
  assertEquals((await operate(full)).status, 200);
  assertEquals((await operate(reader)).status, 200);
  assertEquals((await operate(reader, "POST")).status, 403);
  assertMatch(await refusal(add("anna")), /in use/);
  assertEquals((await run(app, "operator-key", "list")).map(plain), [
    "TIME  full  active  everywhere  anna",
    "TIME  read-only  active  everywhere  grafana",
  ]);
  const ends = "--expires-at=2099-01-01";
  await add("backup", "--networks=192.0.2.0/28,2001:db8::/32", ends);
  assertEquals(
    plain((await run(app, "operator-key", "list"))[2]),
    "TIME  full  active until TIME  192.0.2.0/28 2001:db8::/32  backup",
  );
  assertMatch(
    await refusal(add("x", "--networks=192.0.2.0/99")),
    /networks\/network\[1\]/,
  );
  assertMatch(await refusal(add("x", "--expires-at=2020-01-01")), /expires_at/);
  assertEquals(await run(app, "operator-key", "revoke", "anna"), [
    "revoked: anna",
  ]);
  assertEquals(
    plain((await run(app, "operator-key", "list"))[0]),
    "TIME  full  revoked TIME  everywhere  anna",
  );
  assertEquals((await run(app, "audit", "list")).map(plain), [
    "TIME  command line  operator-key revoke  anna",
    "TIME  command line  operator-key add  backup (until TIME, from " +
    "192.0.2.0/28 2001:db8::/32)",
    "TIME  command line  operator-key add  grafana (read-only)",
    "TIME  command line  operator-key add  anna",
  ]);
  await app.call("/operator_api/sellers/acme/attribute/status/active", {
    key: await add("bo"),
    method: "PUT",
  });
  const found = async (...flags: string[]) =>
    (await run(app, "audit", "list", ...flags)).map(plain);
  const set = "TIME  bo  seller set  acme  status = active";
  assertEquals(await found("--who", "bo"), [set]);
  assertEquals(await found("--seller", "acme"), [set]);
  assertEquals(await found("--seller", "acme", "--who", "command line"), []);
  assertEquals(await found("--until", "2020-01-01"), []);
  assertEquals((await found("--since", "2020-01-01")).length, 6);
  assertEquals((await found("--since", "yesterday")).length, 6);
  assertEquals((await found("--since", "today")).length, 6);
  assertEquals(await found("--until", "yesterday"), []);
  const { mistakes } = await assertRejects(
    () => found("--since", "now"),
    UsageError,
  );
  assertMatch(mistakes[0], /^--since is "now"; it must be a date, or a time/);
});

Deno.test("seller remove lists what it would delete, and deletes with --yes", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  const remove = (...words: string[]) =>
    run(app, "seller", "remove", "acme", ...words);
  const { message } = await assertRejects(() => remove(), UsageError);
  assertMatch(message, /1 products, 1 uploads, 0 webhooks/);
  assertEquals((await app.call("/seller_api/products")).status, 200);
  assertEquals(await remove("--yes"), ["removed: acme"]);
  assertEquals(await run(app, "seller", "list"), []);
  assertMatch(await refusal(remove("--yes")), /acme/);
  const [change] = (await run(app, "audit", "list")).map(plain);
  assertEquals(change, "TIME  command line  seller remove  acme  id ID");
});

Deno.test("review list lists all waiting products, however many there are", async () => {
  await using app = await boot();
  await run(app, "seller", "set", "acme", "review", "new");
  const skus = Array.from({ length: 120 }, (_, n) => `P-${n}`);
  await app.upload(skus.map((sku) => product(sku)).join(""));
  const listed = await run(app, "review", "list");
  assertEquals(
    listed.map((line) => line.split("  ")[3]).toSorted(),
    skus.toSorted(),
  );
});

Deno.test("review list, approve and reject steer the queue", async () => {
  await using app = await boot();
  const list = (...words: string[]) => run(app, "review", "list", ...words);
  await run(app, "seller", "set", "acme", "review", "new");
  await app.upload(product("A") + product("B"));
  const waiting = await list("--seller", "acme");
  assertEquals(waiting.map(plain), [
    "TIME  ID  acme  A  Title of A",
    "TIME  ID  acme  B  Title of B",
  ]);
  const [a, b] = waiting.map((line) => line.split("  ")[1]);
  await assertRejects(
    () => run(app, "review", "reject", a),
    UsageError,
    "A rejection needs --code or --message.",
  );
  const why = [
    "--code",
    "blurry",
    "--field",
    "images",
    "--message",
    "Sharper.",
  ];
  assertEquals(await run(app, "review", "reject", a, ...why), [
    `rejected: ${a}`,
  ]);
  assertEquals(await run(app, "review", "approve", b), [`approved: ${b}`]);
  assertEquals(await list(), []);
  assertEquals((await list("--state", "rejected")).map(plain), [
    "TIME  ID  acme  A  Title of A  blurry  images  Sharper.",
  ]);
  await assertRejects(() => list("--state", "gone"), UsageError);
  assertMatch(await refusal(list("--seller", "nobody")), /nobody/);
  assertMatch(
    await refusal(run(app, "review", "approve", app.sellerId)),
    /no product under review/,
  );
  assertEquals((await run(app, "audit", "list")).map(plain).slice(0, 2), [
    "TIME  command line  review approve  acme  product ID, SKU B",
    "TIME  command line  review reject  acme  product ID, SKU A, blurry, images, Sharper.",
  ]);
});
