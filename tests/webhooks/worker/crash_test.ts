/** The real program, killed at the worst moments. */
import { assert, assertEquals } from "@std/assert";
import { OPERATOR, Service } from "../../processes/service.ts";
import { SqliteStore } from "../../processes/store.ts";
import { until } from "../../support/clock.ts";
import { runProgram, temporaryFolder } from "../../support/process.ts";
import { gate, WebhookSink } from "../../support/webhook_sink.ts";

function create(folder: string): Promise<Service> {
  return Service.create(folder, { env: { SELLER_ROLES: "api,webhooks" } });
}

async function register(
  service: Service,
  url: string,
  trigger = "order_created",
): Promise<void> {
  const { status, text } = await service.ask("/seller_api/webhooks", {
    body: `<webhook><trigger>${trigger}</trigger><url>${url}</url></webhook>`,
  });
  assertEquals(status, 200, text);
}

/** The event's id once it is acknowledged; null if the program died. */
async function emit(
  service: Service,
  reference: string,
  trigger = "order_created",
): Promise<string | null> {
  try {
    const { text } = await service.ask("/operator_api/events", {
      key: OPERATOR,
      body: `<event><seller>acme</seller><trigger>${trigger}</trigger>` +
        `<reference>${reference}</reference><data><o/></data></event>`,
    });
    return /<event_id>(.*)<\/event_id>/.exec(text)?.[1] ?? null;
  } catch {
    return null;
  }
}

async function statesIn(folder: string): Promise<Map<string, string>> {
  const rows = await new SqliteStore(folder).read((sql) =>
    sql.all<{ event_id: string; state: string }>(
      "SELECT event_id, state FROM deliveries",
    )
  );
  return new Map(rows.map(({ event_id, state }) => [event_id, state]));
}

function idsAt(sink: WebhookSink): Set<string> {
  return new Set(
    sink.received.map(({ headers }) => headers.get("webhook-id")!),
  );
}

Deno.test("acknowledged events arrive whenever the program is killed", async () => {
  await using folder = await temporaryFolder();
  await using sink = new WebhookSink();
  // Accepts connections and never answers: for a kill between connecting and
  // receiving.
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const silentUrl = `http://127.0.0.1:${silent.addr.port}/`;
  await using service = await create(folder.path);
  const acknowledged: string[] = [];
  const note = (id: string | null) => {
    if (id !== null) acknowledged.push(id);
  };

  // Killed after the request was received, before the answer.
  await service.start();
  await register(service, sink.url());
  await register(service, silentUrl, "order_paid");
  const { open, opened } = gate();
  sink.answering = async () => {
    await opened;
    return new Response();
  };
  for (let i = 0; i < 6; i++) {
    note(await emit(service, `received-${i}`));
  }
  await until(() => sink.received.length >= 4);
  await service.kill();
  open();
  sink.answering = () => new Response();
  const twice = idsAt(sink);

  // Killed after claiming and connecting, before the request was received.
  await service.start();
  const connected = silent.accept();
  note(await emit(service, "connected", "order_paid"));
  const connection = await connected;
  await service.kill();
  connection.close();
  silent.close();

  // Killed at random moments: before, during and after commits and claims.
  for (let round = 0; round < 4; round++) {
    await service.start();
    const emitting = Array.from({ length: 8 }, async (_, worker) => {
      for (let i = 0; i < 100; i++) {
        const id = await emit(service, `${round}-${worker}-${i}`);
        if (id === null) return;
        note(id);
      }
    });
    const enough = acknowledged.length + 15 * (round + 1);
    await until(() => acknowledged.length >= enough);
    await service.kill();
    await Promise.all(emitting);
  }

  await service.start();
  await register(service, sink.url(), "order_paid");
  await until(() => {
    const arrived = idsAt(sink);
    return acknowledged.every((id) => arrived.has(id));
  }, "every acknowledged event");
  await until(async () =>
    [...(await statesIn(folder.path)).values()].every((state) =>
      state === "delivered"
    )
  );
  await service.stop();

  const states = await statesIn(folder.path);
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
  await using service = await create(folder.path);
  await service.start();
  await register(service, sink.url());
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
