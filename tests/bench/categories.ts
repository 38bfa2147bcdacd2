/**
 * What a list of 10,000 categories costs an upload: the same documents to a
 * service with a list and to one without, in one process that compiles their
 * code once. The two alternate in being first and in having the list.
 *
 *     deno run -A tests/bench/categories.ts [rounds]
 */
import process from "node:process";
import { assertEquals } from "@std/assert";
import { CATEGORIES_LIMIT } from "../../src/categories/document.ts";
import { boot, type TestApp } from "../support/app.ts";
import { Connection, requestBytes } from "./load.ts";
import { document } from "./service.ts";
import { median, quantile, Table } from "./table.ts";

const ROUNDS = Number(Deno.args[0] ?? 1_000);
/** Rounds until the list changes its service. */
const TURN = 20;
/** The first rounds of a turn, which read the list and are not counted. */
const WARM = 4;
const table = new Table();

/** The category of the documents has eleven rules, one with 1,000 values. */
function list(): Uint8Array {
  const colours =
    Array.from({ length: 999 }, (_, n) => `<value>Colour ${n}</value>`).join(
      "",
    ) + "<value>Oak</value>";
  const rules = `<rule attribute="color" required="true">${colours}</rule>` +
    '<rule field="gtin" required="true"/>' +
    '<rule field="brand" required="true" from="2999-01-01"/>' +
    Array.from(
      { length: 8 },
      (_, n) => `<rule attribute="a${n}"><value>x</value></rule>`,
    ).join("");
  const others = Array.from(
    { length: CATEGORIES_LIMIT - 1 },
    (_, n) =>
      `<category name="Other > ${n}"><rule field="gtin"
      required="true"/></category>`,
  );
  return new TextEncoder().encode(
    `<categories closed="true"><category name="Home > Chairs">${rules}` +
      `</category>${others.join("")}</categories>`,
  );
}

const NONE = new TextEncoder().encode("<categories/>");

/** A service with a kept connection. */
class Bench {
  readonly #app: TestApp;
  readonly #connection: Connection;

  private constructor(app: TestApp, connection: Connection) {
    this.#app = app;
    this.#connection = connection;
  }

  static async start(): Promise<Bench> {
    const app = await boot({
      config: { operatorKey: "operator", rateLimit: 0, roles: ["api"] },
      app: { maintain: false },
    });
    return new Bench(app, await Connection.open(app.url));
  }

  async #send(
    method: string,
    path: string,
    key: string,
    body: Uint8Array,
  ): Promise<void> {
    const headers = { "X-Service-Auth": key, "Content-Type": "text/xml" };
    const bytes = requestBytes(method, path, headers, body);
    assertEquals(await this.#connection.send(bytes), 200);
  }

  put(list: Uint8Array): Promise<void> {
    return this.#send("PUT", "/operator_api/categories", "operator", list);
  }

  /** Milliseconds of processor time of an upload, with its client. */
  async upload(body: Uint8Array): Promise<number> {
    const used = process.cpuUsage();
    const path = "/seller_api/bulk_products?v=1.1";
    await this.#send("POST", path, this.#app.key, body);
    const { user, system } = process.cpuUsage(used);
    return (user + system) / 1_000;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.close();
    await this.#app[Symbol.asyncDispose]();
  }
}

const LIST = list();
await using one = await Bench.start();
await using other = await Bench.start();
const used = { with: [] as number[], without: [] as number[] };
for (let round = 0; round < ROUNDS; round++) {
  const turn = Math.floor(round / TURN);
  const [listed, free] = turn % 2 === 0 ? [one, other] : [other, one];
  if (round % TURN === 0) {
    await listed.put(LIST);
    await free.put(NONE);
  }
  const body = document(`r${round}`);
  const both = [[listed, used.with], [free, used.without]] as const;
  for (const [service, times] of round % 2 === 0 ? both : both.toReversed()) {
    const ms = await service.upload(body);
    if (round % TURN >= WARM) times.push(ms);
  }
}
for (const ms of used.with) table.note("250 products by a list", "ms", ms);
for (const ms of used.without) table.note("250 products", "ms", ms);
const percent = (ratio: number) => (ratio - 1) * 100;
const ratios = used.with.map((ms, n) => ms / used.without[n]);
table.note("more with a list, median round", "%", percent(median(ratios)));
// Other programs disturb the fastest quarter least.
const quarter = quantile(used.with, 0.25) / quantile(used.without, 0.25);
table.note("more with a list, fastest quarter", "%", percent(quarter));
table.print();
if (ROUNDS >= 1_000) await table.keep("categories");
