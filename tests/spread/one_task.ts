/**
 * What belongs to one seller touches one server: each statement of a seller's
 * requests and of its work goes there and is one task, and no commit is prepared
 * on several.
 */
import { assert, assertEquals } from "@std/assert";
import type pg from "pg";
import { NODES, SELLERS_PLACED } from "../../src/database/postgres/citus.ts";
import { Connection } from "../../src/database/postgres/connection.ts";
import { until } from "../support/clock.ts";
import { boot, product, textAt } from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";
import { ImageHost } from "../support/image_host.ts";
import { connectTo } from "../support/postgres.ts";
import { WebhookSink } from "../support/webhook_sink.ts";

/**
 * The statements that ask all servers: what they are for, how they are known,
 * and how often a process makes them. Each is bounded: by its LIMIT, or to one
 * look into an index for each seller.
 */
const OF_ALL: readonly [what: string, text: RegExp, often: string][] = [
  ["sellers with waiting work", /^WITH waiting /, "each look of a role"],
  ["leases that ended", /lease_until <= \$1/, "each look of a role"],
  ["images untold", /untold IS NOT NULL\s+\/\*/, "each look of the images"],
  ["counts of queues", /AS counted$/, "every 10 s"],
  ["oldest image", /AS waiting$/, "every 10 s"],
  ["webhooks by state", /FROM webhooks WHERE seller_no > 0/, "every 10 s"],
  ["old rows", /ORDER BY \w+ LIMIT \$\d$/, "each hour, of one server"],
  [
    "unneeded images",
    /\(seller_no, id\) > \(\$1, \$2\)/,
    "a day, of one server",
  ],
  [
    "copies of files",
    /sha256 > \$1|FROM images\s+WHERE sha256 >=/,
    "each hour",
  ],
  [
    "sellers with due imports",
    /"dueAt" <= \$2 ORDER BY/,
    "each look of imports",
  ],
  ["keys of imports", /has_keys = 1/, "each hour"],
  [
    "sellers with due imports",
    /AND seller_no > \$1\s+GROUP BY seller_no\) AS waiting/,
    "each look of a role",
  ],
  ["keys of imports", /has_keys = 1/, "each hour"],
  ["leases held", /SELECT lease_id FROM/, "each hour"],
  ["changes left", /FROM changed_images WHERE seller_no > 0/, "each minute"],
  ["due times ahead", /ORDER BY (due_at|lease_until) LIMIT/, "each start"],
  ["old refusals", /AS oldest/, "each hour, of one server"],
  ["old prices", /^SELECT owner\.seller_no /, "each hour, of one server"],
  ["old counts", /^DELETE FROM hourly_counts/, "each day, of one server"],
  ["former secrets", /<> '\[\]'/, "each hour, of one server"],
  ["servers and sellers", /pg_dist_/, "every 2 s"],
];

/**
 * What is about one seller and goes by way of the server that was entered: what
 * all servers have, and what is read before or beside what is about all sellers.
 */
const BY_WAY: readonly RegExp[] = [
  /^SELECT [^;]* FROM (sellers|api_keys)\b/,
  // Which hosts the waiting images of each seller are on.
  /^WITH RECURSIVE origins/,
];

interface Sent {
  text: string;
  values: readonly unknown[];
  port: number;
}

/** Not the settings of a transaction. */
const OF_TABLES = /^\s*(SELECT (?!set_config)|INSERT|UPDATE|DELETE|WITH)/;

/** What all connections of this process send, once a text and server. */
class Statements implements Disposable {
  readonly sent = new Map<string, Sent>();
  readonly #send = Connection.prototype.send;

  constructor() {
    const { sent } = this;
    const send = this.#send;
    Connection.prototype.send = function (statement, params = []) {
      const { port } = this.client as unknown as { port: number };
      const { text } = statement;
      if (OF_TABLES.test(text)) {
        sent.set(`${port} ${text}`, { text, values: params, port });
      }
      return send.call(this, statement, params);
    };
  }

  [Symbol.dispose](): void {
    Connection.prototype.send = this.#send;
  }
}

const OPERATOR = "op";
const IMPORTS = "/seller_api/imports";

bothEngines.test("one task a statement, and no commit on several servers", async () => {
  using statements = new Statements();
  await using host = new ImageHost();
  await using sink = new WebhookSink();
  await using app = await boot({
    config: { operatorKey: OPERATOR, roles: ["api", "images", "webhooks"] },
  });
  await app.addSeller("other");
  const operate = (path: string, body: string) =>
    app.call(`/operator_api/${path}`, { method: "POST", key: OPERATOR, body });
  const done = async (answer: ReturnType<typeof app.call>, status = 200) => {
    const { status: got, text } = await answer;
    assertEquals(got, status, text);
  };
  statements.sent.clear();
  const prepared = await preparedBy(app.config.databaseUrl!);

  const image = `<images><image>${host.url}/good/a.png</image></images>`;
  const first = await app.upload(product("A-1", image) + product("A-2"));
  assertEquals(first.status, 200, first.text);
  await until(
    async () => textAt(await app.status(first), "status") === "completed",
    "the image",
  );
  await done(app.upload(product("A-1") + product("A-3")));
  await done(app.upload("<product/>", "&accept=valid"), 422);
  await done(app.upload(`${product("A-9")}<product/>`, "&accept=valid"));
  await done(app.upload(product("A-4"), "&dry_run=true"));
  const path = "/seller_api/products/A-1/attribute/quantity/3";
  await done(app.call(path, { method: "PUT" }), 204);
  await done(app.call("/seller_api/products"));
  await done(app.call("/seller_api/products/A-1"));
  await done(app.call("/seller_api/bulk_products"));
  await done(app.call("/seller_api/webhooks", {
    method: "POST",
    body:
      `<webhook><trigger>order_created</trigger><url>${sink.url()}</url></webhook>`,
  }));
  const id = textAt(first.xml, "transaction_id");
  await done(app.call(`/seller_api/bulk_products/${id}/undo?changed=keep`, {
    method: "POST",
  }));
  await done(operate(
    "events",
    "<event><seller>acme</seller><trigger>order_created</trigger>" +
      "<reference>1</reference><data><order/></data></event>",
  ));
  await until(() => sink.received.length === 1, "the delivery");
  await done(app.call("/seller_api/events"));
  const begun = await app.call(`${IMPORTS}?accept=valid`, {
    method: "POST",
    body: `<products>${product("I-1", image)}<product/></products>`,
  });
  const imported = `${IMPORTS}/${textAt(begun.xml, "import_id")}`;
  await until(
    async () =>
      textAt((await app.call(imported)).xml, "import/status") ===
        "completed_with_errors",
    "the import",
  );
  for (const path of ["", `${imported}/results`, `${imported}/refused`]) {
    await done(app.call(path || IMPORTS));
  }
  await done(app.call(`${imported}/undo`, { method: "POST" }));
  await done(app.call("/seller_api/products/A-3", { method: "DELETE" }));

  const several = await tasksOfAll(app.config.databaseUrl!, statements);
  assertEquals(several, []);
  assertEquals(await astray(app.config.databaseUrl!, statements), []);
  const after = await preparedBy(app.config.databaseUrl!);
  assertEquals(after.difference(prepared), new Set());
  assert(statements.sent.size > 40, `${statements.sent.size} statements`);
});

/** The transactions that were prepared on the servers a moment ago. */
async function preparedBy(url: string): Promise<Set<string>> {
  const client = await connectTo(url);
  try {
    // Each leaves a row, until the daemon of Citus finds it committed.
    const { rows } = await client.query(
      "SELECT gid FROM pg_dist_transaction",
    );
    return new Set((rows as { gid: string }[]).map(({ gid }) => gid));
  } finally {
    await client.end();
  }
}

/** Statements about one seller that did not go straight to its server. */
async function astray(
  url: string,
  { sent }: Statements,
): Promise<string[]> {
  const client = await connectTo(url);
  const rows = async <T>(text: string) =>
    (await client.query(text)).rows as T[];
  const ports = new Map(
    (await rows<{ id: number; port: number }>(NODES))
      .map(({ id, port }) => [Number(id), Number(port)]),
  );
  const portOf = new Map(
    (await rows<{ n: number; id: number }>(SELLERS_PLACED))
      .map(({ n, id }) => [Number(n), ports.get(Number(id))]),
  );
  await client.end();
  return [...sent.values()].filter(({ text, values, port }) => {
    const [, n] = /\bseller_no = \$(\d+)/.exec(text) ?? [];
    const own = n && portOf.get(Number(values[Number(n) - 1]));
    return own && own !== port && !BY_WAY.some((known) => known.test(text));
  }).map(({ text }) => text);
}

/** The statements of more than one task that are not in the list. */
async function tasksOfAll(
  url: string,
  { sent }: Statements,
): Promise<string[]> {
  const found: string[] = [];
  const clients = new Map<number, pg.Client>();
  for (const { text, values, port } of [...sent.values()]) {
    if (OF_ALL.some(([, known]) => known.test(text))) continue;
    if (!clients.has(port)) {
      const at = new URL(url.replace(/^postgres:/, "http:"));
      at.port = `${port}`;
      const node = at.href.replace(/^http:/, "postgres:");
      clients.set(port, await connectTo(node));
    }
    const client = clients.get(port)!;
    await client.query("BEGIN");
    try {
      const { rows } = await client.query(
        `EXPLAIN (COSTS OFF) ${literal(text, values)}`,
      );
      const plan = (rows as Record<string, string>[])
        .map((row) => row["QUERY PLAN"]).join("\n");
      const counts = plan.matchAll(/Task Count: (\d+)/g).map(([, n]) => n);
      if ([...counts].some((n) => n !== "1")) found.push(text);
    } catch (error) {
      found.push(`${error}: ${text}`);
    } finally {
      await client.query("ROLLBACK");
    }
  }
  for (const client of clients.values()) await client.end();
  return found;
}

/** With its values in it: EXPLAIN takes no parameters. */
function literal(text: string, values: readonly unknown[]): string {
  return text.replace(/\$(\d+)/g, (_, n) => {
    const value = values[Number(n) - 1];
    if (value === null) return "NULL";
    if (value instanceof Uint8Array) return `'\\x${value.toHex()}'::bytea`;
    if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
    return `${value}`;
  });
}
