import { assertEquals } from "@std/assert";
import { product } from "../support/app.ts";
import { testConfig } from "../support/config.ts";
import { DataFolders } from "./data_folders.ts";
import { Kernel } from "./kernel.ts";
import { Machine } from "./machine.ts";
import { Process } from "./process.ts";
import type { SimulatedRequest } from "./scheduler.ts";

const OPERATOR_KEY = "operator-key-of-the-simulation";

/** A machine with one process, which the test starts, stops and kills. */
class Bench implements Disposable {
  readonly kernel = new Kernel({ seed: 3 });
  readonly machine: Machine;
  readonly process: Process;
  #key = "";

  constructor(folders: DataFolders) {
    this.machine = new Machine(this.kernel, folders);
    this.process = this.newProcess("process 1");
  }

  /** Another process on the same folder. */
  newProcess(name: string): Process {
    return new Process({
      name,
      machine: this.machine,
      config: (dataDir) => testConfig({ dataDir, operatorKey: OPERATOR_KEY }),
    });
  }

  async addSeller(): Promise<void> {
    const { text } = await this.ask("POST", "/operator_api/sellers", {
      key: OPERATOR_KEY,
      body: "<seller><name>acme</name></seller>",
    });
    this.#key = /<api_key>(.*?)</.exec(text)![1];
  }

  /** Sends a request; the status is 0 if there is no answer. */
  async ask(
    method: string,
    path: string,
    { key = this.#key, body, ...more }:
      & { key?: string; body?: string }
      & Partial<Pick<SimulatedRequest, "pieces" | "reader">> = {},
    process = this.process,
  ): Promise<{ status: number; text: string }> {
    const answer = await process.request({
      method,
      path,
      headers: { "X-Service-Auth": key, "Content-Type": "text/xml" },
      body: body === undefined ? undefined : new TextEncoder().encode(body),
      ...more,
    });
    if (answer === null) return { status: 0, text: "" };
    return {
      status: answer.status,
      text: new TextDecoder().decode(answer.body),
    };
  }

  upload(
    sku: string,
    more?: Partial<Pick<SimulatedRequest, "pieces" | "reader">>,
  ) {
    const body = `<products>${product(sku)}</products>`;
    return this.ask("POST", "/seller_api/bulk_products", { body, ...more });
  }

  async skus(process = this.process): Promise<string[]> {
    const path = "/seller_api/products";
    const { text } = await this.ask("GET", path, {}, process);
    return [...text.matchAll(/<sku>(.*?)</g)].map(([, sku]) => sku);
  }

  [Symbol.dispose](): void {
    this.process.kill();
    this.machine[Symbol.dispose]();
  }
}

/** Runs a scene in virtual time. */
async function played(scene: (bench: Bench) => Promise<void>): Promise<void> {
  using folders = await DataFolders.open();
  using bench = new Bench(folders);
  await bench.kernel.run(scene(bench));
}

Deno.test("the application serves requests without sockets or real time", () =>
  played(async (bench) => {
    await bench.process.start();
    await bench.addSeller();
    assertEquals((await bench.upload("a")).status, 200);
    const pieces = { bytes: 20, everyMs: 100 };
    assertEquals((await bench.upload("b", { pieces })).status, 200);
    assertEquals(await bench.skus(), ["a", "b"]);
    await bench.machine.pause(3_600_000);
    const key = OPERATOR_KEY;
    assertEquals((await bench.ask("GET", "/readyz", { key })).status, 200);
    await bench.process.stop();
    assertEquals(bench.machine.errors, []);
  }));

Deno.test("writes acknowledged before a kill are there after it", () =>
  played(async (bench) => {
    await bench.process.start();
    await bench.addSeller();
    assertEquals((await bench.upload("a")).status, 200);
    const pieces = { bytes: 20, everyMs: 1_000 };
    const unanswered = bench.upload("b", { pieces });
    await bench.machine.pause(500);
    bench.process.kill();
    assertEquals((await unanswered).status, 0);
    assertEquals((await bench.ask("GET", "/readyz")).status, 0);
    await bench.process.start();
    assertEquals(await bench.skus(), ["a"]);
  }));

Deno.test("uncommitted writes of a killed process are gone", () =>
  played(async (bench) => {
    await bench.process.start();
    await bench.addSeller();
    bench.machine.committing.add(() => bench.machine.pause(60_000));
    const unanswered = bench.upload("a");
    await bench.machine.pause(1_000);
    bench.process.kill();
    bench.machine.committing.clear();
    assertEquals((await unanswered).status, 0);
    await bench.process.start();
    assertEquals(await bench.skus(), []);
  }));

Deno.test("two processes share a folder, and one continues when the other is killed", () =>
  played(async (bench) => {
    const other = bench.newProcess("process 2");
    await bench.process.start();
    await other.start();
    await bench.addSeller();
    assertEquals((await bench.upload("a")).status, 200);
    bench.process.kill();
    assertEquals(await bench.skus(other), ["a"]);
    other.kill();
  }));

Deno.test("a process that is stopped while it starts ends there", () =>
  played(async ({ machine, process }) => {
    machine.stays.set("statement of a read", () => 1_000);
    const started = process.start().then(() => "started", String);
    await machine.pause(500);
    await process.stop();
    // Rejects if the process uses its database after its end.
    await Promise.race([machine.pause(5_000), machine.failed]);
    assertEquals(await started, "Error: process 1 1 has ended");
  }));

Deno.test("a stalled process answers when it resumes", () =>
  played(async (bench) => {
    await bench.process.start();
    bench.process.stand();
    const begun = bench.kernel.time;
    const asked = bench.ask("GET", "/healthz");
    await bench.machine.pause(20_000);
    bench.process.goOn();
    assertEquals((await asked).status, 200);
    assertEquals(bench.kernel.time - begun >= 20_000, true);
  }));

Deno.test("a client that disconnects gets no answer and leaves nothing", () =>
  played(async (bench) => {
    await bench.process.start();
    await bench.addSeller();
    const reader = { leavesAfterMs: 100 };
    const pieces = { bytes: 5, everyMs: 50 };
    assertEquals((await bench.upload("a", { reader, pieces })).status, 0);
    await bench.machine.pause(60_000);
    // A job of maintenance may be using the image store at this moment.
    for (let tries = 0; tries < 10; tries++) {
      if (Object.keys(bench.process.held()).length === 0) break;
      await bench.machine.pause(100);
    }
    assertEquals(bench.process.held(), {});
  }));
