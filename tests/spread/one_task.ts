/**
 * Work for one seller uses one server: each statement of a seller's requests
 * and background work goes to that server and is one task, and no commit is
 * prepared on several servers, except for changes of sellers and keys, and for
 * an operator's decision about a product, because of its entry in the audit
 * log.
 */
import { assert, assertEquals } from "@std/assert";
import type pg from "pg";
import { CONTACT_EXAMPLE } from "../../src/contracts/examples.ts";
import { NODES, SELLERS_PLACED } from "../../src/database/postgres/citus.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/lib/durations.ts";
import { EMAIL, OPERATOR_KEY, tell, type Telling } from "../notices/support.ts";
import { child, product, textAt } from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";
import { ImageHost } from "../support/image_host.ts";
import { connectTo } from "../support/postgres.ts";
import { WebhookSink } from "../support/webhook_sink.ts";
import { OF_ALL, Statements } from "./statements.ts";

/**
 * Statements for one seller that may go through the server that was entered:
 * those on tables that all servers have, and those before or during work on all
 * sellers.
 */
const BY_WAY: readonly RegExp[] = [
  /^SELECT [^;]* FROM (sellers|api_keys)\b/,
  // The hosts of each seller's waiting images.
  /^WITH RECURSIVE origins/,
  // The images and the contacts of products in the feed.
  /^SELECT url, state, sha256, type/,
  /^SELECT id, content FROM contacts/,
];

/** How often all requests of a seller are made. */
const ROUNDS = 2;
const STEP_MS = 300_000;

/** Everything that a seller and its operator do, except changes of keys. */
class Mix {
  #round = 0;

  constructor(
    private readonly telling: Telling,
    private readonly host: ImageHost,
    private readonly sink: WebhookSink,
  ) {}

  /** Makes all requests once, and waits for the resulting background work. */
  async round(): Promise<void> {
    const round = `${++this.#round}`;
    await this.#products(round);
    await this.#imports(round);
    await this.#events(round);
    for (
      const path of ["products", "bulk_products", "account", "refusals", "keys"]
    ) {
      await this.ask(`/seller_api/${path}`);
    }
    await this.#operate("GET", "/refusals");
    await this.#operate("GET", "/products?limit=10");
    await this.#operate("GET", "/sellers/acme/deliveries");
  }

  /**
   * Sends a request of the seller; with the operator's key, of the operator.
   */
  async ask(
    path: string,
    { status = 200, ...call }: {
      status?: number;
      method?: string;
      body?: string;
      key?: string;
    } = {},
  ) {
    const answer = await this.telling.app.call(path, call);
    assertEquals(answer.status, status, `${path}: ${answer.text}`);
    return answer;
  }

  #operate(method: string, path: string, body?: string) {
    const call = { method, key: OPERATOR_KEY, body };
    return this.ask(`/operator_api${path}`, call);
  }

  #post(path: string, body: string, status = 200) {
    return this.ask(`/seller_api${path}`, { method: "POST", body, status });
  }

  #image(name: string): string {
    return `<images><image>${this.host.url}/${name}</image></images>`;
  }

  async #products(round: string): Promise<void> {
    const { app } = this.telling;
    const upload = (products: string, query = "", status = 200) =>
      this.#post(
        `/bulk_products?v=1.1${query}`,
        `<products>${products}</products>`,
        status,
      );
    const first = await upload(
      product(`A-${round}`, this.#image(`good/${round}.png`)) +
        product(`B-${round}`, this.#image(`missing/${round}.png`)) +
        product(`C-${round}`),
    );
    const id = textAt(first.xml, "transaction_id");
    const settled = () =>
      this.telling.until(
        async () =>
          textAt(await app.status(first), "status") !== "processing_images",
        "the images",
      );
    await settled();
    await this.#post(`/bulk_products/${id}/images/retry`, "");
    await settled();
    await upload(
      product(`A-${round}`, this.#image(`good/${round}-new.png`)) +
        product(`D-${round}`),
    );
    await upload("<product/>", "", 422);
    const some = await upload(`${product("E")}<product/>`, "&accept=valid");
    const refused = `/bulk_products/${
      textAt(some.xml, "transaction_id")
    }/refused`;
    await this.ask(`/seller_api${refused}`);
    await upload(product("F"), "&dry_run=true");
    await this.#post(
      "/bulk_attributes?v=1.1",
      `<products><product><sku>C-${round}</sku><price currency="SEK">${round}7</price>` +
        `<quantity>${round}</quantity></product></products>`,
    );
    const sku = `/seller_api/products/C-${round}`;
    const put = { method: "PUT", status: 204 };
    await this.ask(`${sku}/attribute/quantity/3${round}`, put);
    await this.ask(sku);
    await this.ask(`${sku}/history?attribute=price`);
    await this.#post(`/bulk_products/${id}/undo?changed=keep`, "");
    await this.ask(`/seller_api/products/D-${round}`, { method: "DELETE" });
    const mapping = {
      method: "PUT",
      body: "<mapping><columns/><values/></mapping>",
    };
    await this.ask("/seller_api/mappings/prices", mapping);
    await this.ask("/seller_api/mappings");
    const contact = { method: "PUT", body: CONTACT_EXAMPLE };
    await this.ask("/seller_api/contacts/maker", contact);
    await this.ask("/seller_api/contacts?limit=1");
    await this.ask("/seller_api/contacts/maker");
    await upload(product("M", "<manufacturer>maker</manufacturer>"));
    await this.ask("/seller_api/contacts/maker", { method: "DELETE" });
  }

  async #imports(round: string): Promise<void> {
    const path = "/seller_api/imports";
    const begun = await this.#post(
      "/imports?accept=valid",
      `<products>${
        product(`I-${round}`, this.#image("good/a.png"))
      }<product/></products>`,
    );
    const imported = `${path}/${textAt(begun.xml, "import_id")}`;
    await this.telling.until(
      async () =>
        textAt((await this.ask(imported)).xml, "import/status") ===
          "completed_with_errors",
      "the import",
    );
    for (const list of [path, `${imported}/results`, `${imported}/refused`]) {
      await this.ask(list);
    }
    await this.#post(`/imports/${imported.slice(path.length + 1)}/undo`, "");
  }

  /** Reviews a product of a seller under review. */
  async review(): Promise<void> {
    const round = `${++this.#round}`;
    await this.#post(
      "/bulk_products?v=1.1",
      `<products>${product(`R-${round}`)}</products>`,
    );
    const list = await this.#operate("GET", "/reviews?seller=acme");
    const waiting = child(list.xml, "reviews").children
      .find((one) => textAt(one, "sku") === `R-${round}`)!;
    await this.#operate(
      "POST",
      "/reviews",
      `<reviews><review><product>${textAt(waiting, "id")}</product>` +
        "<decision>rejected</decision><code>other</code>" +
        "<message>No.</message></review></reviews>",
    );
    await this.ask("/seller_api/products/rejected");
  }

  async #events(round: string): Promise<void> {
    const { telling, sink } = this;
    await this.#post(
      "/webhooks",
      "<webhook><trigger>order_created</trigger>" +
        `<url>${sink.url()}</url></webhook>`,
    );
    const before = sink.received.length;
    await this.#operate(
      "POST",
      "/events",
      "<event><seller>acme</seller><trigger>order_created</trigger>" +
        `<reference>${round}</reference><data><order/></data></event>`,
    );
    await this.#post("/webhooks/order_created/test", "");
    await telling.until(
      () => sink.received.length >= before + 2,
      "the deliveries",
    );
    await this.ask("/seller_api/events");
    const path = "/seller_api/webhooks/order_created";
    const list = await this.ask(`${path}/deliveries`);
    const [delivery] = child(list.xml, "deliveries").children;
    await this.#post(
      `/webhooks/order_created/deliveries/${textAt(delivery, "id")}/replay`,
      "",
    );
    await this.#post("/webhooks/order_created/recover?since=2026-11-01", "");
    await this.#post("/webhooks/order_created/rotate_secret", "");
  }
}

bothEngines.test("an hour of every operation: one task per statement, and no commit on several servers", async () => {
  using statements = new Statements();
  await using host = new ImageHost();
  await using sink = new WebhookSink();
  await using telling = await tell({
    config: { roles: ["api", "images", "webhooks"] },
  });
  const { app, mail, clock } = telling;
  const url = app.config.databaseUrl!;
  await app.addSeller("other");
  await telling.set("email", EMAIL);
  await telling.set("review", "new");
  const mix = new Mix(telling, host, sink);
  statements.sent.clear();
  await using servers = await Servers.of(url);

  const known = await servers.prepared();
  for (let round = 0; round < ROUNDS; round++) {
    await mix.round();
    const end = clock.monotonic() + HOUR_MS / ROUNDS;
    while (clock.monotonic() < end) await telling.leap(STEP_MS);
    const now = await servers.prepared();
    assertEquals(now.difference(known), new Set(), `in round ${round}`);
  }
  assert(mail.received.length > 0, "a notice was mailed");
  assertEquals(await servers.ofSeveralTasks(statements), []);
  assertEquals(await servers.astray(statements), []);
  assert(statements.sent.size > 100, `${statements.sent.size} statements`);

  // The entry in the audit log is on the coordinator.
  await mix.review();
  const decided = await servers.prepared();
  assert(decided.difference(known).size > 0, "a decision is on two servers");
  await app.addSeller("third");
  const added = await servers.prepared();
  assert(added.difference(decided).size > 0, "a seller is on all servers");
  const ends = new Date(clock.now() + DAY_MS + MINUTE_MS).toISOString();
  await mix.ask("/seller_api/keys", {
    method: "POST",
    body: `<key><label>x</label><expires_at>${ends}</expires_at></key>`,
  });
  const keyed = await servers.prepared();
  assert(keyed.difference(added).size > 0, "a key is on all servers");
});

/** All servers of a database, with the statements that they received. */
class Servers implements AsyncDisposable {
  private constructor(
    /** Connections by port. */
    private readonly clients: ReadonlyMap<number, pg.Client>,
    private readonly entry: pg.Client,
  ) {}

  static async of(url: string): Promise<Servers> {
    const entry = await connectTo(url);
    const nodes = await rows<{ port: number }>(entry, NODES);
    const clients = new Map<number, pg.Client>();
    for (const { port } of nodes) {
      const at = new URL(url);
      at.port = `${port}`;
      clients.set(port, await connectTo(at.href));
    }
    return new Servers(clients, entry);
  }

  /** The transactions that were prepared on several servers a moment ago. */
  async prepared(): Promise<Set<string>> {
    const found = new Set<string>();
    for (const client of this.clients.values()) {
      // Each leaves a row until the daemon of Citus finds it committed.
      const prepared = await rows<{ gid: string }>(
        client,
        "SELECT gid FROM pg_dist_transaction",
      );
      for (const { gid } of prepared) found.add(gid);
    }
    return found;
  }

  /** Statements for one seller that did not go straight to its server. */
  async astray({ sent }: Statements): Promise<string[]> {
    const nodes = await rows<{ id: number; port: number }>(this.entry, NODES);
    const ports = new Map(nodes.map(({ id, port }) => [Number(id), port]));
    const sellers = await rows<{ n: number; id: number }>(
      this.entry,
      SELLERS_PLACED,
    );
    const portOf = new Map(
      sellers.map(({ n, id }) => [Number(n), ports.get(Number(id))]),
    );
    return [...sent.values()].filter(({ text, values, port }) => {
      const [, n] = /\bseller_no = \$(\d+)/.exec(text) ?? [];
      const own = n && portOf.get(Number(values[Number(n) - 1]));
      return own && own !== port && !BY_WAY.some((known) => known.test(text));
    }).map(({ text }) => text);
  }

  /** Statements with more than one task that are not in the list. */
  async ofSeveralTasks({ sent }: Statements): Promise<string[]> {
    const found: string[] = [];
    for (const { text, values, port } of sent.values()) {
      if (OF_ALL.some(([, known]) => known.test(text))) continue;
      const client = this.clients.get(port)!;
      await client.query("BEGIN");
      try {
        const plan = await rows<Record<string, string>>(
          client,
          `EXPLAIN (COSTS OFF) ${literal(text, values)}`,
        );
        const lines = plan.map((row) => row["QUERY PLAN"]).join("\n");
        const counts = lines.matchAll(/Task Count: (\d+)/g).map(([, n]) => n);
        if ([...counts].some((n) => n !== "1")) found.push(text);
      } catch (error) {
        found.push(`${error}: ${text}`);
      } finally {
        await client.query("ROLLBACK");
      }
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [this.entry, ...this.clients.values()];
    await Promise.all(all.map((client) => client.end()));
  }
}

async function rows<T>(client: pg.Client, text: string): Promise<T[]> {
  return (await client.query(text)).rows as T[];
}

/** Inserts the values, because EXPLAIN takes no parameters. */
function literal(text: string, values: readonly unknown[]): string {
  return text.replace(/\$(\d+)/g, (_, n) => {
    const value = values[Number(n) - 1];
    if (value === null) return "NULL";
    if (value instanceof Uint8Array) return `'\\x${value.toHex()}'::bytea`;
    if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
    return `${value}`;
  });
}
