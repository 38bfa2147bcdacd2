/**
 * One life of the whole service, from its start to its stop, in which one call
 * of the database or of the image store fails; and the rules that must hold
 * afterwards.
 */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { TABLES } from "../../src/database/copy.ts";
import { jsonLog, type LogFields } from "../../src/deps.ts";
import { openImageStore } from "../../src/images/storage/open.ts";
import { ImageWorker } from "../../src/images/worker/image_worker.ts";
import type { ToImageWorker } from "../../src/images/worker/messages.ts";
import type { SpawnWorker } from "../../src/images/worker/spawn.ts";
import { picture } from "../../src/sandbox/pictures.ts";
import { Inspector, WRONG_COUNTERS } from "../processes/inspect.ts";
import { SqliteStore } from "../processes/store.ts";
import {
  type Answer,
  boot,
  codeOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { pause, RunningClock } from "../support/clock.ts";
import { fastParent, makeDataDir } from "../support/data_dir.ts";
import {
  failingSqlite,
  SQLITE_ERROR_NAMES,
  SQLITE_ERRORS,
  type SqliteCall,
  type SqliteErrorName,
} from "../support/failing_sqlite.ts";
import {
  failFiles,
  FILE_ERROR_NAMES,
  type FileErrorName,
  fileErrorText,
} from "../support/failing_files.ts";
import { ImageHost } from "../support/image_host.ts";
import { parseMetrics } from "../support/metrics.ts";
import { OPERATOR } from "../processes/service.ts";
import { sometimes, sometimesLogged } from "../support/sometimes.ts";
import { WebhookSink } from "../support/webhook_sink.ts";

/** Which call fails, and how. */
export interface NthCall {
  /** The name from `siteOfSql` or `siteOfFile`. */
  site: string;
  /** Which of the calls with that name, from 1. */
  nth: number;
  error: SqliteErrorName | FileErrorName;
  /**
   * For this long all later calls of the writer, or of the store, fail as well;
   * 0: only this one.
   */
  lastsMs: number;
}

export function nameOf({ site, nth, error, lastsMs }: NthCall): string {
  const long = lastsMs === 0 ? "" : `, and all for ${lastsMs / 1_000} s`;
  return `${error} at no. ${nth} of ${site}${long}`;
}

/** The name of a call; the same calls have the same name. */
function siteOfSql({ method, sql, readOnly }: SqliteCall): string {
  const connection = readOnly ? "reader" : "writer";
  return `${connection} ${method} ${sql.replace(/\s+/g, " ")}`.trim();
}

/** The name of a file call; without the lease, which differs in each life. */
function siteOfFile(call: string, path: string): string {
  const name = path.replace(/[^/]*\.part$/, "<lease>.part")
    .replace(/^[0-9a-f]{2}$/, "<prefix>");
  return `store ${call} ${name}`;
}

/** Of the calls with one name, at most this many are tested, evenly chosen. */
const MOST_OF_A_NAME = 60;
/** How long a lasting fault lasts, by the clock. */
const LASTS_MS = 3_000;

/** Every fault to test, for a life with these calls. */
export function faultsOf(calls: ReadonlyMap<string, number>): NthCall[] {
  return [...calls].flatMap(([site, count]) => {
    const errors: readonly NthCall["error"][] = site.startsWith("store ")
      ? FILE_ERROR_NAMES
      : SQLITE_ERROR_NAMES;
    const step = Math.max(1, count / MOST_OF_A_NAME);
    const faults: NthCall[] = [];
    for (let n = 1; n <= count; n += step) {
      const nth = Math.floor(n);
      for (const error of errors) {
        faults.push({ site, nth, error, lastsMs: 0 });
        faults.push({ site, nth, error, lastsMs: LASTS_MS });
      }
    }
    return faults;
  });
}

/**
 * Some of them: the first call of evenly chosen names, each with another error.
 */
export function someOf(faults: readonly NthCall[], count: number): NthCall[] {
  const sites = [...new Set(faults.map(({ site }) => site))].sort();
  return Array.from({ length: count }, (_, i) => {
    const site = sites[Math.floor((i + 0.5) * sites.length / count)];
    const ways = faults.filter((one) => one.site === site && one.nth === 1);
    return ways[i % ways.length];
  });
}

/** What happened in a life. */
export interface Life {
  /** How often each call was made, by name. */
  calls: ReadonlyMap<string, number>;
  /** Whether the call that was to fail was made. */
  reached: boolean;
  /** How many answers were 503 or 500. */
  refused: number;
  /** The content of the database at the end. */
  content: string;
}

const ROLES = ["api", "images", "webhooks"] as const;
/**
 * How fast the clock runs, relative to real time, while no host has to answer.
 */
const SPEED = 20;
/** By the clock: everything recovers from a fault within this time. */
const RECOVERY_MS = 60_000;
/** By the clock: the service counts as hanging if its stop takes longer. */
const CLOSE_MS = 20_000;
const LARGE_BYTES = 300_000;

/** The beginning that all lives share. */
export class Nursery implements AsyncDisposable {
  readonly images: ImageHost;
  readonly sink: WebhookSink;
  readonly seller: { id: string; key: string };
  readonly #database: Uint8Array;
  readonly #stack: AsyncDisposableStack;
  /** The content of the database after a life without a fault. */
  #content: string | null = null;
  #calls: ReadonlyMap<string, number> = new Map();

  private constructor(
    parts: Pick<Nursery, "images" | "sink" | "seller">,
    database: Uint8Array,
    stack: AsyncDisposableStack,
  ) {
    this.images = parts.images;
    this.sink = parts.sink;
    this.seller = parts.seller;
    this.#database = database;
    this.#stack = stack;
  }

  static async open(): Promise<Nursery> {
    await using stack = new AsyncDisposableStack();
    const images = stack.use(new ImageHost());
    images.answers.set("/large.png", () => new Response(largePicture()));
    const sink = stack.use(new WebhookSink());
    const dataDir = makeDataDir();
    const app = await boot({ config: { dataDir } });
    const registered = await app.call("/seller_api/webhooks", {
      method: "POST",
      body: "<webhook><trigger>order_created</trigger>" +
        `<url>${sink.url()}</url></webhook>`,
    });
    assertEquals(registered.status, 200, registered.text);
    await app.app.close();
    const database = await Deno.readFile(`${dataDir}/seller.db`);
    await Deno.remove(dataDir, { recursive: true });
    const seller = { id: app.sellerId, key: app.key };
    return new Nursery({ images, sink, seller }, database, stack.move());
  }

  /** The calls of a life without a fault, by name. */
  async calls(): Promise<ReadonlyMap<string, number>> {
    if (this.#content === null) {
      const life = await this.#live(null);
      this.#content = life.content;
      this.#calls = life.calls;
    }
    return this.#calls;
  }

  /** Throws if a rule does not hold. */
  async try(fault: NthCall): Promise<Life> {
    await this.calls();
    const life = await this.#live(fault);
    assertEquals(life.content, this.#content, "what is stored at the end");
    return life;
  }

  async #live(fault: NthCall | null): Promise<Life> {
    const dataDir = await Deno.makeTempDir({
      dir: fastParent,
      prefix: "seller-test-",
    });
    await Deno.writeFile(`${dataDir}/seller.db`, this.#database, {
      mode: 0o600,
    });
    this.sink.received.length = 0;
    using trial = new Trial(this, dataDir, fault);
    try {
      return await trial.live();
    } catch (error) {
      throw new Error(`${error}\nThe log:\n${trial.log}`, { cause: error });
    } finally {
      await Deno.remove(dataDir, { recursive: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** A picture larger than the buffer of a download. */
function largePicture(): Uint8Array<ArrayBuffer> {
  const bytes = picture("large.png")!;
  const end = bytes.length - 12;
  const chunk = Buffer.alloc(LARGE_BYTES + 12);
  chunk.writeUInt32BE(LARGE_BYTES, 0);
  chunk.write("prVt", 4, "latin1");
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), LARGE_BYTES + 8);
  return new Uint8Array(
    Buffer.concat([bytes.subarray(0, end), chunk, bytes.subarray(end)]),
  );
}

class Trial implements Disposable {
  readonly #nursery: Nursery;
  readonly #dataDir: string;
  readonly #fault: NthCall | null;
  readonly #clock = new RunningClock();
  readonly #workers = new Set<ImageWorker>();
  readonly #cancelPace: () => void;
  readonly #calls = new Map<string, number>();
  readonly #log: LogFields[] = [];
  readonly #uncaught: unknown[] = [];
  readonly #files: Disposable;
  /** When the call failed, by the clock; null before. */
  #failedAt: number | null = null;
  #refused = 0;
  #app!: TestApp;

  constructor(nursery: Nursery, dataDir: string, fault: NthCall | null) {
    this.#nursery = nursery;
    this.#dataDir = dataDir;
    this.#fault = fault;
    const pace = setInterval(() => {
      this.#clock.speed = this.#isAsking ? 1 : SPEED;
    }, 1);
    this.#cancelPace = () => clearInterval(pace);
    this.#files = failFiles(`${dataDir}/images`, this.#failFile);
    addEventListener("unhandledrejection", this.#onUncaught);
  }

  readonly #onUncaught = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    this.#uncaught.push(event.reason);
  };

  /** Whether a host has to answer, which takes real time. */
  get #isAsking(): boolean {
    const app: TestApp | undefined = this.#app;
    const held = app?.app.holders.inUse() ?? {};
    const asked = [held["outbound.requests"], held["deliveries.requests"]];
    const fetched = [...this.#workers].map((one) => one.inUse().requests);
    return [...asked, ...fetched].some((count = 0) => count > 0);
  }

  [Symbol.dispose](): void {
    this.#cancelPace();
    this.#clock[Symbol.dispose]();
    this.#files[Symbol.dispose]();
    removeEventListener("unhandledrejection", this.#onUncaught);
  }

  /** The log lines that report errors. */
  get log(): string {
    return this.#log.filter(({ level }) => level !== "info")
      .map((line) => JSON.stringify(line)).join("\n");
  }

  async live(): Promise<Life> {
    this.#app = await this.#start();
    await this.#script();
    await this.#settle();
    await this.#readOut();
    await this.#stop();
    await this.#look();
    const calls = new Map(this.#calls);
    // Starts another process after it.
    this.#app = await this.#start();
    await this.#settle();
    await this.#readOut();
    await this.#stop();
    await this.#look();
    this.#checkLog();
    assertEquals(this.#uncaught, [], "errors that nothing caught");
    sometimesLogged(this.#log);
    return {
      calls,
      reached: this.#failedAt !== null,
      refused: this.#refused,
      content: contentOf(this.#dataDir),
    };
  }

  /** The error of a call: the chosen call fails, and later ones for a while. */
  #fail(site: string, mayLast: boolean): NthCall["error"] | null {
    const count = (this.#calls.get(site) ?? 0) + 1;
    this.#calls.set(site, count);
    const fault = this.#fault;
    if (fault === null) return null;
    if (site === fault.site && count === fault.nth) {
      this.#failedAt ??= this.#clock.monotonic();
      return fault.error;
    }
    const lasts = mayLast && this.#failedAt !== null &&
      this.#clock.monotonic() < this.#failedAt + fault.lastsMs;
    return lasts ? fault.error : null;
  }

  readonly #failSql = (call: SqliteCall): SqliteErrorName | null => {
    const mayLast = !call.readOnly && call.method !== "close" &&
      !this.#isOfStore;
    const error = this.#fail(siteOfSql(call), mayLast);
    return error as SqliteErrorName | null;
  };

  readonly #failFile = (call: string, path: string): FileErrorName | null => {
    const error = this.#fail(siteOfFile(call, path), this.#isOfStore);
    return error as FileErrorName | null;
  };

  get #isOfStore(): boolean {
    return this.#fault !== null && isOfStore(this.#fault.error);
  }

  /** The image worker in this thread, with the clock of the service. */
  readonly #spawn: SpawnWorker = ({ message }) => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let hasEnded = false;
    const later = (fn: () => void) => setTimeout(() => hasEnded || fn());
    const clock = this.#clock;
    const worker = new ImageWorker({
      clock,
      openStore: ({ store }) => openImageStore(store, clock),
      post: (told) => later(() => message(told)),
    });
    this.#workers.add(worker);
    return {
      post: (told) => later(() => receive(worker, told)),
      terminate: () => {
        hasEnded = true;
        this.#workers.delete(worker);
        end();
      },
      ended,
    };
  };

  #boot(): Promise<TestApp> {
    return boot({
      config: {
        dataDir: this.#dataDir,
        operatorKey: OPERATOR,
        roles: [...ROLES],
      },
      deps: {
        clock: this.#clock,
        connectSqlite: failingSqlite(this.#failSql),
        log: logTo(this.#log),
      },
      seller: this.#nursery.seller,
      app: { imageRole: { spawn: this.#spawn } },
    });
  }

  /** A start may fail; the next one does not. */
  async #start(): Promise<TestApp> {
    const deadline = this.#clock.monotonic() + RECOVERY_MS;
    for (;;) {
      try {
        return await this.#boot();
      } catch (error) {
        assert(this.#explains(String(error)), `start: ${error}`);
        sometimes("start failed");
        assert(this.#clock.monotonic() < deadline, "it never starts");
      }
      await pause(2);
    }
  }

  async #script(): Promise<void> {
    const { images } = this.#nursery;
    const image = (path: string) => `<image>${images.url}/${path}</image>`;
    const first = await this.#upload(
      product("a", `<images>${image("good/a.png")}</images>`) +
        product(
          "b",
          `<images>${image("good/b.jpg")}${image("large.png")}</images>`,
        ) + product("c"),
      { "Idempotency-Key": "first" },
    );
    await this.#set("a", 7);
    await this.#finished(first);
    await this.#readImage("a");
    const second = await this.#upload(
      product("b", `<images>${image("good/c.png")}</images>`) + product("d"),
    );
    await this.#finished(second);
    await this.#undo(second);
    await this.#emit("order-1");
    await this.#emit("order-2");
  }

  async #upload(
    products: string,
    headers: Record<string, string> = {},
  ): Promise<string> {
    const answer = await this.#ask(() =>
      this.#app.upload(products, "", headers)
    );
    return textAt(answer.xml, "transaction_id");
  }

  async #set(sku: string, quantity: number): Promise<void> {
    const path = `/seller_api/products/${sku}/attribute/quantity/${quantity}`;
    await this.#ask(() => this.#app.call(path, { method: "PUT" }));
  }

  async #undo(transaction: string): Promise<void> {
    const path = `/seller_api/bulk_products/${transaction}/undo`;
    await this.#ask(() => this.#app.call(path, { method: "POST" }));
  }

  async #emit(reference: string): Promise<void> {
    const body = "<event><seller>acme</seller>" +
      "<trigger>order_created</trigger>" +
      `<reference>${reference}</reference>` +
      `<data><order>${reference}</order></data></event>`;
    await this.#ask(() =>
      this.#app.call("/operator_api/events", {
        key: OPERATOR,
        method: "POST",
        body,
      })
    );
  }

  /** The image of a product is served. */
  async #readImage(sku: string): Promise<void> {
    const path = `/seller_api/products/${sku}`;
    const { text } = await this.#ask(() => this.#app.call(path));
    const url = /\/images\/[0-9a-f]{2}\/[0-9a-f]{64}\.png/.exec(text)![0];
    await this.#until(async () => {
      try {
        await this.#ask(() => this.#app.call(url, { key: null }));
        return "";
      } catch (error) {
        // An answer that has begun cannot become a refusal any more.
        if (error instanceof TypeError && this.#isOfStore) return "the image";
        throw error;
      }
    });
  }

  /** All images of the upload are final. */
  async #finished(transaction: string): Promise<void> {
    const path = `/seller_api/bulk_products/${transaction}?wait=5`;
    await this.#until(async () => {
      const { xml } = await this.#ask(() => this.#app.call(path));
      const status = textAt(xml, "transaction/status");
      return status === "completed" ? "" : `an upload is ${status}`;
    });
  }

  /**
   * Sends the request until it succeeds; each answer before that is an honest
   * refusal.
   */
  async #ask(send: () => Promise<Answer>): Promise<Answer> {
    const deadline = this.#clock.monotonic() + RECOVERY_MS;
    for (;;) {
      const answer = await send();
      if (answer.status < 300) return answer;
      this.#refused++;
      this.#checkRefusal(answer);
      sometimes(answer.status === 503 ? "503 answered" : "500 answered");
      assert(this.#clock.monotonic() < deadline, `for ever ${answer.text}`);
      await pause(2);
    }
  }

  #checkRefusal(answer: Answer): void {
    const printed = `${answer.status} ${codeOf(answer)}: ${answer.text}`;
    assert(this.#failedAt !== null, `no fault explains ${printed}`);
    if (this.#fault!.error === "SQLITE_NOMEM" && answer.status === 500) return;
    assertEquals(answer.status, 503, printed);
    assert(answer.headers.has("retry-after"), printed);
  }

  /** Everything recovers by itself. */
  async #settle(): Promise<void> {
    await this.#until(async () => {
      const left = leftIn(this.#dataDir);
      if (left !== "") return left;
      const held = await this.#held();
      if (held !== "") return held;
      const { status } = await this.#app.call("/readyz", { key: null });
      return status === 200 ? "" : "readiness";
    });
    const arrived = this.#nursery.sink.received.map(({ text }) =>
      /<order>(.*?)</.exec(text)?.[1]
    );
    assertEquals([...new Set(arrived)].sort(), ["order-1", "order-2"]);
  }

  /** What the process reports to have in use. */
  async #held(): Promise<string> {
    const { status, text } = await this.#app.call("/metrics", {
      key: null,
      headers: { authorization: `Bearer ${OPERATOR}` },
    });
    if (status !== 200) return `metrics ${status}`;
    return [...parseMetrics(text)].filter(([series, value]) =>
      series.startsWith("seller_in_progress") &&
      value > (series.includes('kind="request"') ? 1 : 0)
    ).map(([series, value]) => `${series} ${value}`).join(", ");
  }

  async #readOut(): Promise<void> {
    const paths = ["products", "bulk_products", "webhooks"];
    for (const path of paths) {
      await this.#ask(() => this.#app.call(`/seller_api/${path}`));
    }
    const { xml } = await this.#ask(() =>
      this.#app.call("/seller_api/products")
    );
    assertEquals(
      [...xml.source.matchAll(/<sku>(.*?)<.*?<quantity>(.*?)</gs)]
        .map(([, sku, quantity]) => `${sku} ${quantity}`).sort(),
      ["a 7", "b 5", "c 5"],
    );
  }

  async #stop(): Promise<void> {
    const limit = this.#clock.monotonic() + CLOSE_MS;
    let ended = false;
    const closing = this.#app.app.close().catch((error) => {
      assert(this.#explains(String(error)), `stop: ${error}`);
      sometimes("stop failed");
    }).finally(() => ended = true);
    while (!ended) {
      assert(this.#clock.monotonic() < limit, "it does not stop");
      await pause(2);
    }
    await closing;
  }

  /** Checks the rows, bypassing the service's code. */
  #look(): Promise<void> {
    return new Inspector(new SqliteStore(this.#dataDir)).checkFile();
  }

  /** Waits until there is nothing left to wait for. */
  async #until(left: () => Promise<string>): Promise<void> {
    const deadline = this.#clock.monotonic() + RECOVERY_MS;
    for (;;) {
      const what = await left();
      if (what === "") return;
      assert(
        this.#clock.monotonic() < deadline,
        `after ${RECOVERY_MS / 1_000} s: ${what}`,
      );
      await pause(2);
    }
  }

  /** Whether a message is about the fault. */
  #explains(message: string): boolean {
    const fault = this.#failedAt === null ? null : this.#fault;
    return fault !== null &&
      textsOf(fault.error).some((text) => message.includes(text));
  }

  #checkLog(): void {
    const odd = this.#log.filter((line) =>
      line.level === "error" && !this.#explains(JSON.stringify(line))
    );
    assertEquals(odd, [], "lines of the log that the fault does not explain");
  }
}

function isOfStore(error: NthCall["error"]): error is FileErrorName {
  return !(error in SQLITE_ERRORS);
}

const ANOTHER_WRITES = "Another process writes.";

/** The messages of the fault, and those of the service about a lasting one. */
function textsOf(error: NthCall["error"]): string[] {
  if (isOfStore(error)) return [fileErrorText(error)];
  const own = SQLITE_ERRORS[error][1];
  return error === "SQLITE_BUSY" ? [own, ANOTHER_WRITES] : [own];
}

/** An error that it throws counts as an uncaught error of its thread. */
function receive(worker: ImageWorker, message: ToImageWorker): void {
  try {
    worker.receive(message);
  } catch (error) {
    worker.breakDown(error);
  }
}

/** Values that no row may have once everything is done. */
const LEFT: readonly string[] = [
  "SELECT 'lease of an image' FROM images WHERE lease_id IS NOT NULL",
  "SELECT 'image' FROM transaction_images WHERE status <> 'stored'",
  `SELECT 'job of an image' FROM images
   WHERE due_at IS NOT NULL`,
  "SELECT 'changed image' FROM changed_images",
  "SELECT 'delivery' FROM deliveries WHERE state <> 'delivered'",
  `SELECT 'counter' FROM (${WRONG_COUNTERS})`,
];

/** Describes unfinished work; "" if there is none. */
function leftIn(dataDir: string): string {
  using database = new DatabaseSync(`${dataDir}/seller.db`, {
    readOnly: true,
    timeout: 1_000,
  });
  return LEFT.flatMap((sql) => database.prepare(sql).all())
    .map((row) => Object.values(row)[0]).join(", ");
}

/** Tables that also depend on how the result came about. */
const HISTORY: ReadonlySet<string> = new Set([
  "delivery_attempts",
  "hourly_counts",
]);

/**
 * Every row of every table, as text: ids by their order of appearance, times
 * only as present or not.
 */
function contentOf(dataDir: string): string {
  using database = new DatabaseSync(`${dataDir}/seller.db`, {
    readOnly: true,
  });
  const ids = new Map<string, string>();
  const idOf = (id: string) => {
    if (!ids.has(id)) ids.set(id, `id ${ids.size}`);
    return ids.get(id)!;
  };
  const lines: string[] = [];
  for (const { name, key } of TABLES) {
    if (HISTORY.has(name)) continue;
    const rows = database.prepare(
      `SELECT * FROM ${name} ORDER BY ${key}`,
    ).all();
    for (const row of rows) {
      // An attempt that the service interrupted is repeated.
      if (name === "deliveries") delete row.attempts;
      const text = Object.entries(row).map(([column, value]) =>
        `${column} ${shown(value)}`
      ).join(", ");
      lines.push(`${name}: ${text}`);
    }
  }
  const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  // Only the first letter of packed ids, which is the result of the product.
  const packed = /results \["[^"]*"/g;
  return lines.join("\n").replace(uuid, idOf).replace(packed, "results [");
}

function shown(value: unknown): string {
  // A negative number is the time of an event that has no number yet.
  const isTime = typeof value === "number" && Math.abs(value) > 1e12;
  if (isTime) return "a time";
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return String(value);
}

function logTo(lines: LogFields[]) {
  return jsonLog("info", (line) => lines.push(JSON.parse(line)));
}
