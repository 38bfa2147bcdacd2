/** The real program, killed at the worst moments. */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { systemClock, systemIds } from "../../../src/deps.ts";
import { openSqlite } from "../../../src/database/sqlite/engine.ts";
import { addSeller } from "../../../src/sellers/seller_rows.ts";
import { until } from "../../support/clock.ts";
import {
  type Program,
  runProgram,
  startProgram,
  temporaryFolder,
} from "../../support/process.ts";
import { gate, WebhookSink } from "../../support/webhook_sink.ts";

const OPERATOR = "operator-key";

class Service {
  readonly #dataDir: string;
  readonly apiKey: string;

  constructor(dataDir: string, apiKey: string) {
    this.#dataDir = dataDir;
    this.apiKey = apiKey;
  }

  static async create(dataDir: string): Promise<Service> {
    const db = await openSqlite(join(dataDir, "seller.db"));
    const { apiKey } = await db.write((tx) =>
      addSeller(tx, { clock: systemClock, ids: systemIds }, "acme")
    );
    await db.close();
    return new Service(dataDir, apiKey);
  }

  start(): Promise<Program> {
    return startProgram(
      ["serve", "--port", "0", "--data", this.#dataDir],
      {
        env: {
          SELLER_OPERATOR_KEY: OPERATOR,
          SELLER_ALLOW_PRIVATE: "127.0.0.0/8",
          SELLER_ROLES: "api,webhooks",
        },
      },
    );
  }

  async register(program: Program, url: string, trigger = "order_created") {
    const response = await fetch(`${program.url}/seller_api/webhooks`, {
      method: "POST",
      headers: { "content-type": "text/xml", "x-service-auth": this.apiKey },
      body: `<webhook><trigger>${trigger}</trigger><url>${url}</url></webhook>`,
    });
    assertEquals(response.status, 200, await response.text());
  }

  /** The event's id once it is acknowledged; null if the program died. */
  async emit(
    program: Program,
    reference: string,
    trigger = "order_created",
  ): Promise<string | null> {
    try {
      const response = await fetch(`${program.url}/operator_api/events`, {
        method: "POST",
        headers: { "content-type": "text/xml", "x-service-auth": OPERATOR },
        body: `<event><seller>acme</seller><trigger>${trigger}</trigger>` +
          `<reference>${reference}</reference><data><o/></data></event>`,
      });
      const text = await response.text();
      return /<event_id>(.*)<\/event_id>/.exec(text)?.[1] ?? null;
    } catch {
      return null;
    }
  }

  async states(): Promise<Map<string, string>> {
    const db = await openSqlite(join(this.#dataDir, "seller.db"));
    const rows = await db.read((sql) =>
      sql.all<{ event_id: string; state: string }>(
        "SELECT event_id, state FROM deliveries",
      )
    );
    await db.close();
    return new Map(rows.map(({ event_id, state }) => [event_id, state]));
  }
}

function idsAt(sink: WebhookSink): Set<string> {
  return new Set(
    sink.received.map(({ headers }) => headers.get("webhook-id")!),
  );
}

async function killed(program: Program): Promise<void> {
  program.kill("SIGKILL");
  await program.ended();
}

Deno.test("acknowledged events arrive whenever the program is killed", async () => {
  await using folder = await temporaryFolder();
  await using sink = new WebhookSink();
  // Accepts connections and never answers: for a kill between connecting and
  // receiving.
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const silentUrl = `http://127.0.0.1:${silent.addr.port}/`;
  const service = await Service.create(folder.path);
  const acknowledged: string[] = [];
  const note = (id: string | null) => {
    if (id !== null) acknowledged.push(id);
  };

  // Killed after the request was received, before the answer.
  let program = await service.start();
  await service.register(program, sink.url());
  await service.register(program, silentUrl, "order_paid");
  const { open, opened } = gate();
  sink.answering = async () => {
    await opened;
    return new Response();
  };
  for (let i = 0; i < 6; i++) {
    note(await service.emit(program, `received-${i}`));
  }
  await until(() => sink.received.length >= 4);
  await killed(program);
  open();
  sink.answering = () => new Response();
  const twice = idsAt(sink);

  // Killed after claiming and connecting, before the request was received.
  program = await service.start();
  const connected = silent.accept();
  note(await service.emit(program, "connected", "order_paid"));
  const connection = await connected;
  await killed(program);
  connection.close();
  silent.close();

  // Killed at random moments: before, during and after commits and claims.
  for (let round = 0; round < 4; round++) {
    program = await service.start();
    const emitting = Array.from({ length: 8 }, async (_, worker) => {
      for (let i = 0; i < 100; i++) {
        const id = await service.emit(program, `${round}-${worker}-${i}`);
        if (id === null) return;
        note(id);
      }
    });
    const enough = acknowledged.length + 15 * (round + 1);
    await until(() => acknowledged.length >= enough);
    await killed(program);
    await Promise.all(emitting);
  }

  program = await service.start();
  await service.register(program, sink.url(), "order_paid");
  await until(() => {
    const arrived = idsAt(sink);
    return acknowledged.every((id) => arrived.has(id));
  }, "every acknowledged event");
  await until(async () =>
    [...(await service.states()).values()].every((state) =>
      state === "delivered"
    )
  );
  await program.stop();

  const states = await service.states();
  for (const id of idsAt(sink)) {
    assert(states.has(id), `${id} was sent and is not in the database`);
  }
  const times = (id: string) =>
    sink.received.filter(({ headers }) => headers.get("webhook-id") === id)
      .length;
  assert([...twice].every((id) => times(id) >= 2));
});

Deno.test("a running service sends events that the command line emits", async () => {
  await using folder = await temporaryFolder();
  await using sink = new WebhookSink();
  const service = await Service.create(folder.path);
  await using program = await service.start();
  await service.register(program, sink.url());
  const { code, stdout, stderr } = await runProgram([
    "emit",
    "--data",
    folder.path,
    "--seller",
    "acme",
    "--trigger",
    "order_created",
    "--reference",
    "order-1",
  ]);
  assertEquals(code, 0, stderr);
  await until(() => sink.received.length === 1);
  assertEquals(stdout.trim(), `event_id: ${[...idsAt(sink)][0]}`);
});
