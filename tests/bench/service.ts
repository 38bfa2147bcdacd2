/** The real program for benchmarks, and image hosts. */
import { TRIGGERS } from "../../src/webhooks/trigger.ts";
import { openDatabase } from "../../src/database/open.ts";
import { cpuSecondsOf } from "../support/cpu.ts";
import {
  type Program,
  startProgram,
  temporaryFolder,
} from "../support/process.ts";
import { addSellersTo } from "../processes/service.ts";
import { Connection, requestBytes } from "./load.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** The key of its operator API. */
export const OPERATOR_KEY = "operator-key";

export interface BenchOptions {
  /** `SELLER_ROLES`. */
  roles: string;
  /** Names of sellers. */
  sellers: string[];
  /** Fills the data folder before the service starts. */
  fill?: (dataDir: string) => Promise<void>;
  /** `SELLER_DATABASE_URL`. */
  databaseUrl?: string;
  /** The number of its processes; one by default. */
  processes?: number;
  /** A module that runs before the program. */
  preload?: string;
}

/** A running service with its own data folder. */
export class BenchService implements AsyncDisposable {
  readonly #folder: Awaited<ReturnType<typeof temporaryFolder>>;
  readonly #env: Record<string, string>;
  #programs: readonly Program[];
  readonly #keys: ReadonlyMap<string, string>;
  /** Milliseconds from its start to `listening on`. */
  readonly startMs: number;

  private constructor(
    folder: Awaited<ReturnType<typeof temporaryFolder>>,
    env: Record<string, string>,
    programs: readonly Program[],
    keys: ReadonlyMap<string, string>,
    startMs: number,
  ) {
    this.#folder = folder;
    this.#env = env;
    this.#programs = programs;
    this.#keys = keys;
    this.startMs = startMs;
  }

  static async start(
    options: BenchOptions,
  ): Promise<BenchService> {
    const { roles, sellers, fill, databaseUrl = "", processes = 1 } = options;
    const folder = await temporaryFolder();
    const env = {
      SELLER_DATA_DIR: folder.path,
      SELLER_PORT: "0",
      SELLER_RATE_LIMIT: "0",
      SELLER_LOG: "warn",
      SELLER_ALLOW_PRIVATE: "127.0.0.0/8",
      SELLER_OPERATOR_KEY: OPERATOR_KEY,
      SELLER_ROLES: roles,
      SELLER_DATABASE_URL: databaseUrl,
    };
    const place = { dataDir: folder.path, databaseUrl: databaseUrl || null };
    const db = await openDatabase({
      ...place,
      databasePool: 2,
      databaseShards: 32,
    }, {
      create: true,
    });
    const keys = await addSellersTo(db, sellers);
    await db.close();
    await fill?.(folder.path);
    const begun = performance.now();
    const run = { env, preload: options.preload };
    const programs = await Promise.all(
      Array.from({ length: processes }, () => startProgram(["serve"], run)),
    );
    const startMs = performance.now() - begun;
    return new BenchService(folder, env, programs, keys, startMs);
  }

  /** The URL of the first process. */
  get url(): string {
    return this.#programs[0].url;
  }

  /** The URL of every process. */
  get urls(): string[] {
    return this.#programs.map(({ url }) => url);
  }

  /** Stops every process, and starts one process with other roles. */
  async restart(roles: string): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.stop()));
    const env = { ...this.#env, SELLER_ROLES: roles };
    this.#programs = [await startProgram(["serve"], { env })];
  }

  /** A folder for its data, with room for other files on the same disk. */
  get folder(): string {
    return this.#folder.path;
  }

  keyOf(seller: string): string {
    return this.#keys.get(seller)!;
  }

  /** A request of one seller. */
  request(
    seller: string,
    method: string,
    path: string,
    body?: Uint8Array,
  ): Uint8Array {
    const headers: Record<string, string> = {
      "X-Service-Auth": this.keyOf(seller),
    };
    if (body !== undefined) headers["Content-Type"] = "text/xml";
    return requestBytes(method, `/seller_api/${path}`, headers, body);
  }

  upload(seller: string, body: Uint8Array): Uint8Array {
    return this.request(seller, "POST", "bulk_products?v=1.1", body);
  }

  /** An event that the operator emits; `data` is XML. */
  event(seller: string, reference: string, data: string): Uint8Array {
    const body = `<event><seller>${seller}</seller>` +
      `<trigger>${TRIGGERS[0]}</trigger><reference>${reference}</reference>` +
      `<data>${data}</data></event>`;
    const headers = {
      "X-Service-Auth": OPERATOR_KEY,
      "Content-Type": "text/xml",
    };
    const bytes = new TextEncoder().encode(body);
    return requestBytes("POST", "/operator_api/events", headers, bytes);
  }

  /** A page of the operator's feed, after a change number. */
  changes(after: number, limit: number): Uint8Array {
    const path = `/operator_api/products?limit=${limit}` +
      `&after=${after}-ffffffff-ffff-7fff-bfff-ffffffffffff`;
    return requestBytes("GET", path, { "X-Service-Auth": OPERATOR_KEY });
  }

  /** Ten webhooks of the seller. */
  async addWebhooks(seller: string, url: string): Promise<void> {
    for (const trigger of TRIGGERS.slice(0, 10)) {
      const body = new TextEncoder().encode(
        `<webhook><trigger>${trigger}</trigger><url>${url}</url></webhook>`,
      );
      await this.ask(this.request(seller, "POST", "webhooks", body));
    }
  }

  /**
   * One request on its own connection; returns the whole answer, which has
   * status 200.
   */
  async ask(request: Uint8Array): Promise<string> {
    const connection = await Connection.open(this.url);
    try {
      const status = await connection.send(request);
      if (status !== 200) throw new Error(connection.answer);
      return connection.answer;
    } finally {
      connection.close();
    }
  }

  /** Uploads; returns the id of the transaction. */
  async transactionOf(seller: string, body: Uint8Array): Promise<string> {
    const answer = await this.ask(this.upload(seller, body));
    return /<transaction_id>(.*?)</.exec(answer)![1];
  }

  /** Resident memory of the first process. */
  async memoryMiB(): Promise<number> {
    const [{ pid }] = this.#programs;
    const status = await Deno.readTextFile(`/proc/${pid}/status`);
    return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1_024;
  }

  /** CPU time of its processes so far. */
  async cpuSeconds(): Promise<number> {
    const all = this.#programs.map(({ pid }) => cpuSecondsOf(pid));
    return (await Promise.all(all)).reduce((sum, one) => sum + one, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs) await program[Symbol.asyncDispose]();
    await this.#folder[Symbol.asyncDispose]();
  }
}

/** A server in its own process, which is not the service. */
export class BenchHost implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #file: string;
  readonly url: string;

  private constructor(child: Deno.ChildProcess, file: string, url: string) {
    this.#child = child;
    this.#file = file;
    this.url = url;
  }

  /**
   * Answers every path with a different PNG of 100,000 bytes, and HEADs after
   * `headMs` milliseconds.
   */
  static start(headMs = 0): Promise<BenchHost> {
    return BenchHost.#run(hostScript(headMs), []);
  }

  /**
   * A service that does the minimum: answers 204 after a commit of one row in
   * its own database; a POST with 200 after its XML was read and 250 rows with
   * three keys were written.
   */
  static startBare(databaseFile: string): Promise<BenchHost> {
    return BenchHost.#run(bareScript(databaseFile), [
      "--allow-read",
      "--allow-write",
    ]);
  }

  static async #run(
    script: string,
    permissions: readonly string[],
  ): Promise<BenchHost> {
    const file = await Deno.makeTempFile({ suffix: ".ts" });
    await Deno.writeTextFile(file, script);
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-net", ...permissions, file],
      cwd: ROOT,
      stdout: "piped",
    }).spawn();
    const reader = child.stdout.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    const port = new TextDecoder().decode(value).trim();
    return new BenchHost(child, file, `http://127.0.0.1:${port}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill();
    await this.#child.status;
    await Deno.remove(this.#file);
  }
}

function bareScript(databaseFile: string): string {
  return `
import { DatabaseSync } from "node:sqlite";
import { readXml } from ${JSON.stringify(`${ROOT}src/xml/decode.ts`)};
const database = new DatabaseSync(${JSON.stringify(databaseFile)});
database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
database.exec("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (0)");
database.exec("CREATE TABLE p (seller INTEGER, id TEXT, sku TEXT, change INTEGER, " +
  "title TEXT, description TEXT, rest TEXT, PRIMARY KEY (seller, id)) STRICT; " +
  "CREATE UNIQUE INDEX p_sku ON p (seller, sku); CREATE INDEX p_change ON p (change)");
// Like the service's log, this one is overwritten, not extended.
database.exec("BEGIN; CREATE TABLE room (bytes); " +
  "INSERT INTO room VALUES (zeroblob(8000000)); ROLLBACK");
const update = database.prepare("UPDATE t SET n = n + 1");
const insert = database.prepare("INSERT INTO p VALUES (1, ?, ?, ?, ?, ?, ?)");
const description = "x".repeat(600);
let rows = 0;
async function upload(request) {
  readXml([await request.bytes()], { open() {}, text() {}, close() {} });
  database.exec("BEGIN IMMEDIATE");
  for (let i = 0; i < 250; i++) {
    rows++;
    const id = crypto.randomUUID();
    insert.run(id, "sku-" + rows, rows, "Chair", description, "[]");
  }
  database.exec("COMMIT");
  return new Response("<service/>");
}
const onListen = ({ port }) => console.log(port);
Deno.serve({ port: 0, hostname: "127.0.0.1", onListen }, (request) => {
  if (request.method === "POST") return upload(request);
  update.run();
  return new Response(null, { status: 204 });
});`;
}

function hostScript(headMs: number): string {
  return `
const image = new Uint8Array(100_000);
image.set([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82]);
image.set([0, 0, 1, 0, 0, 0, 1, 0, 8, 2, 0, 0, 0, 0, 0, 0, 0], 16);
image.set([0, 1, 134, 100, 73, 68, 65, 84], 33);
image.set([0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130], 99_985);
const onListen = ({ port }) => console.log(port);
Deno.serve({ port: 0, hostname: "127.0.0.1", onListen }, async (request) => {
  const { pathname } = new URL(request.url);
  const headers = { "content-type": "image/png", etag: '"' + pathname + '"' };
  if (request.method === "HEAD") {
    if (${headMs} > 0) await new Promise((done) => setTimeout(done, ${headMs}));
    return new Response(null, { headers });
  }
  const body = image.slice();
  body.set(new TextEncoder().encode(pathname).subarray(0, 60), 100);
  return new Response(body, { headers });
});`;
}

/** A document of about `bytes` bytes. */
export function document(
  prefix: string,
  { products = 250, bytes = 300_000, images, version = "" }: {
    products?: number;
    bytes?: number;
    /** The URLs of one product's images. */
    images?: (product: number) => string[];
    /** The value of most fields. */
    version?: string;
  } = {},
): Uint8Array {
  const words = `A sturdy chair of oiled oak with a woven seat. ${version}`;
  const room = Math.max(0, Math.floor(bytes / products) - 560);
  const text = words.repeat(Math.ceil(room / words.length)).slice(0, room);
  const rows = Array.from({ length: products }, (_, i) =>
    `<product>
  <sku>${prefix}-${i}</sku>
  <title>Chair number ${i} of ${prefix}${version}</title>
  <description><![CDATA[<p>${text}</p>]]></description>
  <price currency="SEK">${100 + i + version.length}.50</price>
  <vat_rate>25</vat_rate>
  <quantity>${i + version.length}</quantity>
  <gtin>4006381333931</gtin>
  <brand>Chairs &amp; Co${version}</brand>
  <categories><category>Home &gt; Chairs</category></categories>
  <attributes><attribute name="color">Oak</attribute><attribute name="size">M</attribute></attributes>${
      images === undefined
        ? ""
        : `<images>${
          images(i).map((url) => `<image>${url}</image>`).join("")
        }</images>`
    }
</product>`);
  return new TextEncoder().encode(`<products>${rows.join("\n")}</products>`);
}
