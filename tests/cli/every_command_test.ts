/** Every command, with each of its flags and arguments, on every engine. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { join } from "node:path";
import { CATEGORIES_EXAMPLE } from "../../src/contracts/examples.ts";
import { systemDeps } from "../../src/deps.ts";
import { UsageError } from "../../src/cli/command.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { allSettingFlags, dataFlag } from "../../src/cli/flags.ts";
import { boot, product, type TestApp, textAt } from "../support/app.ts";
import { runCommand } from "../support/command.ts";
import { bothEngines } from "../support/engine.ts";

/** What exists when a command runs. */
interface Place {
  app: TestApp;
  isPostgres: boolean;
  productId: string;
  deliveryId: string;
  keyId: string;
  /** A file that does not exist yet. */
  newFile: string;
  /** The event's data. */
  dataFile: string;
  /** A list of categories. */
  listFile: string;
}

/** Arguments of the command, and the lines that it prints. */
type Example = [words: string[], prints: RegExp];

const DAY = "2020-01-01";
const REFUSED = /^(?=.*PostgreSQL)/s;

/** Where a command is tested that cannot run beside a service. */
type Elsewhere = string;

/** In this order, because some need what earlier ones created. */
const EXAMPLES: Record<string, Elsewhere | ((at: Place) => Example[])> = {
  "serve": "tests/cli/program_test.ts, tests/crash",
  "copy-database": "tests/cli/copy_database_test.ts",
  "reopen-database": "tests/cli/copy_database_test.ts",
  "restore": "tests/cli/restore_test.ts",
  "file": () => [
    [[], /nginx\.conf/],
    [["nginx.conf"], /server/],
  ],
  "health": () => [[[], /alive/], [["--ready"], /ready/]],
  "status": () => [[[], /images {2}waiting: .*disk of data {2}free: /s]],
  "seller add": () => [[["other"], /^api_key: /m]],
  "seller list": () => [
    [[], /active {2}acme/],
    [["--quota", "0"], /acme {2}1 of /],
  ],
  "seller set": () => [
    [["other", "image_quota", "5"], /^image_quota: 5$/],
    [["other", "review", "none"], /^review: none$/],
    [["other", "status", "suspended"], /^status: suspended$/],
  ],
  "seller refusals": () => [
    [["acme"], /422/],
    [
      [
        ...["acme", "--since", DAY, "--until", "2100-01-01"],
        ...["--code", "required", "--find", "bad"],
        ...["--route", "POST /seller_api/bulk_products"],
      ],
      /required/,
    ],
  ],
  "key add": () => [[
    [
      ...["acme", "--label", "ERP", "--scopes", "read,products"],
      ...["--expires-at", "2100-01-01T00:00:00Z"],
      ...["--networks", "192.0.2.0/24,2001:db8::/32"],
    ],
    /^api_key: /m,
  ]],
  "key list": () => [[["acme"], /active.*\n.*192\.0\.2\.0\/24.*ERP/]],
  "key revoke": ({ keyId }) => [[[keyId], /^revoked: /]],
  "key rotate-secret": () => [[["acme"], /secret/]],
  "operator-key add": () => [
    [["auditor", "--read-only"], /^operator_key: /m],
    [
      [
        ...["office", "--networks", "192.0.2.0/24"],
        ...["--expires-at", "2100-01-01"],
      ],
      /^operator_key: /m,
    ],
  ],
  "operator-key list": () => [[[], /auditor/]],
  "operator-key revoke": () => [[["auditor"], /auditor/]],
  "audit list": () => [
    [[], /seller set/],
    [
      [
        ...["--who", "command line", "--seller", "other"],
        ...["--since", DAY, "--until", "2100-01-01"],
      ],
      /seller add/,
    ],
  ],
  "review list": () => [
    [["--seller", "acme"], /A/],
    [["--state", "pending"], /A/],
  ],
  "review reject": ({ productId }) => [[
    [productId, "--code", "blurry", "--field", "images", "--message", "Blurry"],
    /rejected/,
  ]],
  "review approve": ({ productId }) => [
    [[productId, "--message", "Fine"], /approved/],
  ],
  "category put": ({ listFile }) => [
    [[listFile, "--dry-run"], /^checked: 1 category, 2 rules$/],
    [[listFile], /^stored: 1 category, 2 rules$/],
  ],
  "category list": () => [[[], /Home\/Mugs {2}gtin required from 2027-01-01/]],
  "emit": ({ dataFile }) => [[
    [
      ...[dataFile, "--seller", "acme", "--trigger", "order_paid"],
      ...["--reference", "order-1"],
    ],
    /^event_id: /m,
  ]],
  "webhook test": () => [
    [["order_paid", "--seller", "acme"], /^delivery_id: /m],
  ],
  "webhook recover": () => [[
    [
      ...["order_paid", "--seller", "acme", "--since", DAY],
      ...["--until", "2100-01-01"],
    ],
    /^queued: /,
  ]],
  "webhook rotate-secret": () => [
    [["order_paid", "--seller", "acme"], /secret/],
  ],
  "delivery list": ({ deliveryId }) => [
    [[], /order_paid/],
    [
      [
        ...["--seller", "acme", "--state", "exhausted"],
        ...["--trigger", "order_paid", "--limit", "5"],
        ...["--before", deliveryId.replace(/^./, "f")],
      ],
      new RegExp(deliveryId),
    ],
  ],
  "delivery show": ({ deliveryId }) => [[[deliveryId], /exhausted/]],
  "delivery replay": ({ deliveryId }) => [
    [["--state", "exhausted", "--since", DAY], /^replayed: 3$/],
    [["--state", "delivered"], /^replayed: 0$/],
    [[deliveryId], /^replayed: /],
  ],
  "database info": () => [[[], /./], [["--seller", "acme"], /./]],
  "images verify": () => [[[], /0/]],
  "images prune": () => [[[], /0/], [["--delete"], /0/]],
  "backup": ({ newFile, isPostgres }) => [
    [[newFile], isPostgres ? REFUSED : /rows: /],
  ],
  "seller remove": () => [[["other", "--yes"], /^removed: other$/]],
};

/** Flags with the same meaning in every command. */
const COMMON = [dataFlag, ...allSettingFlags].map(({ name }) => name);

async function prepare(app: TestApp): Promise<Place> {
  const run = (...words: string[]) => runCommand(context(app), ...words);
  await run("seller", "set", "acme", "review", "new");
  assertEquals((await app.upload(product("A"))).status, 200);
  const bad = "<product><sku>bad</sku></product>";
  assertEquals((await app.upload(bad)).status, 422);
  await app.call("/seller_api/refusals"); // writes pending changes
  const hook = await app.call("/seller_api/webhooks", {
    method: "POST",
    body: "<webhook><trigger>order_paid</trigger>" +
      "<url>http://127.0.0.1:1024/hook</url></webhook>",
  });
  assertEquals(hook.status, 200, hook.text);
  const shown = await app.call("/seller_api/products/A");
  const sent = await run("webhook", "test", "order_paid", "--seller", "acme");
  const dataFile = join(app.config.dataDir, "event.xml");
  await Deno.writeTextFile(dataFile, "<total>1</total>");
  const listFile = join(app.config.dataDir, "categories.xml");
  await Deno.writeTextFile(listFile, CATEGORIES_EXAMPLE);
  const [added] = await run("key", "add", "acme");
  return {
    app,
    isPostgres: app.config.databaseUrl !== null,
    productId: textAt(shown.xml, "product/id"),
    deliveryId: valueOf(sent, "delivery_id"),
    keyId: valueOf([added], "key_id"),
    newFile: join(app.config.dataDir, "backup.db"),
    dataFile,
    listFile,
  };
}

/** The text after a name in its line. */
function valueOf(lines: readonly string[], name: string): string {
  const line = lines.find((line) => line.startsWith(`${name}: `));
  if (line === undefined) throw new Error(lines.join("\n"));
  return line.slice(name.length + 2);
}

function context({ config, url }: TestApp) {
  return {
    config: { ...config, port: Number(new URL(url).port) },
    deps: systemDeps("error"),
  };
}

/**
 * Nothing is sent: the present deliveries look as if all attempts had failed.
 */
async function exhaust({ app: { db }, sellerNo }: TestApp): Promise<void> {
  await db.of(sellerNo).write((tx) =>
    tx.run(
      `UPDATE deliveries SET state = 'exhausted', due_at = NULL, settled_at = ?
       WHERE seller_no = ? AND due_at IS NOT NULL`,
      [tx.now(), sellerNo],
      "any",
    )
  );
}

Deno.test("each command has an example of each of its flags and arguments", () => {
  const at = { deliveryId: "x" } as Place;
  const examples = (name: string) => {
    const made = EXAMPLES[name];
    return typeof made === "function" ? made(at) : [];
  };
  assertEquals(
    Object.keys(EXAMPLES).sort(),
    COMMANDS.map(({ name }) => name).sort(),
  );
  for (const { name, flags, arguments: words } of COMMANDS) {
    if (typeof EXAMPLES[name] === "string") continue;
    const given = examples(name).map(([words]) => words);
    for (const flag of flags.filter((flag) => !COMMON.includes(flag.name))) {
      const isThere = given.some((words) => words.includes(`--${flag.name}`));
      assert(isThere, `${name} --${flag.name}`);
    }
    const isThere = words.length === 0 ||
      given.some((words) => words.length >= 1 && !/^--/.test(`${words[0]}`));
    assert(isThere, `${name} ${words.map(({ name }) => name)}`);
  }
});

bothEngines.test("each command runs", async (t) => {
  await using app = await boot({ config: { roles: ["api"], port: 0 } });
  const place = await prepare(app);
  for (const [name, examples] of Object.entries(EXAMPLES)) {
    if (typeof examples === "string") continue;
    await t.step(name, async () => {
      if (name.startsWith("delivery")) await exhaust(app);
      for (const [words, prints] of examples(place)) {
        const running = runCommand(context(app), ...name.split(" "), ...words);
        if (prints === REFUSED) {
          const refused = await assertRejects(() => running, UsageError);
          assertMatch(refused.message, prints);
        } else {
          assertMatch((await running).join("\n"), prints, words.join(" "));
        }
      }
    });
  }
});
