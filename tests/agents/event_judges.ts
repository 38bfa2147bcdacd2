/** Judges of the scenarios about events: 4 and 5. */
import { type Client, signWebhook } from "../../src/client/mod.ts";
import { until } from "../support/clock.ts";
import { freePort } from "../support/process.ts";
import { Findings } from "./findings.ts";
import type { Judge } from "./seller_judges.ts";
import { linesOf, type World } from "./world.ts";

const OTHER_SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const HOUR_S = 3_600;

export async function ordersByWebhook(world: World): Promise<Judge> {
  const seller = await world.addSeller("workshop");
  const port = freePort();
  const hook = `http://127.0.0.1:${port}/hook`;
  Object.assign(world.variables, {
    PORT: `${port}`,
    HOOK_URL: hook,
    WEBHOOK_SECRET: seller.secret,
  });
  return async () => {
    const found = new Findings();
    const first = await Receiver.start(world, hook);
    try {
      await until(async () => {
        const { webhook } = await seller.webhooks.list();
        const triggers = webhook.map(({ trigger }) => trigger);
        return first.ended ||
          ["order_created", "order_paid"].every((trigger) =>
            triggers.includes(trigger as "order_paid")
          );
      }, "both triggers registered");
      const ids = await sendOrders(world, "workshop", 3);
      const lines = [
        ...ids.map((id) => `order_created ${id}`),
        `order_paid ${await sendEvent(world, "workshop", "order_paid", "1")}`,
      ];
      await delivered(seller, lines, 1);
      await replay(seller, ids[0]);
      await delivered(seller, lines.slice(0, 1), 2);
      for (const [what, delivery] of await forgeries(seller.secret)) {
        const answer = await fetch(hook, { method: "POST", ...delivery });
        await answer.body?.cancel();
        found.expect(
          answer.status >= 400 && answer.status < 500,
          `a delivery with ${what} was answered ${answer.status}`,
        );
      }
      await first.kill();
      const second = await Receiver.start(world, hook);
      try {
        await replay(seller, ids[1]);
        await delivered(seller, lines.slice(1, 2), 2);
      } finally {
        await second.kill();
      }
      found.equal(
        linesOf(await world.read("orders.txt")).sort(),
        lines.sort(),
        "lines of orders.txt",
      );
    } catch (error) {
      found.missing.push(`${(error as Error).message}; ${first.errors}`);
    } finally {
      await first.kill();
    }
    return found.missing;
  };
}

/** The running program of scenario 4. */
class Receiver {
  ended = false;
  errors = "";
  readonly #child: Deno.ChildProcess;
  readonly #output: Promise<void>;

  private constructor(child: Deno.ChildProcess) {
    this.#child = child;
    this.#output = child.output().then(({ code, stderr }) => {
      const text = new TextDecoder().decode(stderr).slice(-1_000);
      this.errors = `exit code ${code}: ${text}`;
      this.ended = true;
    });
  }

  /** Resolves when the program listens, or has ended. */
  static async start(world: World, hook: string): Promise<Receiver> {
    const receiver = new Receiver(world.start());
    await until(async () => receiver.ended || await listens(hook), hook);
    return receiver;
  }

  async kill(): Promise<void> {
    if (!this.ended) this.#child.kill("SIGKILL");
    await this.#output;
  }
}

async function listens(url: string): Promise<boolean> {
  try {
    const { hostname, port } = new URL(url);
    const connection = await Deno.connect({ hostname, port: Number(port) });
    connection.close();
    return true;
  } catch {
    return false;
  }
}

/** Waits until the events of these lines were delivered, or tried, so often. */
async function delivered(
  seller: Client,
  lines: readonly string[],
  attempts: number,
): Promise<void> {
  for (const line of lines) {
    const [trigger, id] = line.split(" ");
    await until(async () => {
      const delivery = await deliveryOf(seller, trigger, id);
      return delivery?.state === "delivered" &&
        delivery.attempts.length >= attempts;
    }, `a 2xx answer to delivery ${attempts} of the event ${id}`);
  }
}

async function deliveryOf(seller: Client, trigger: string, id: string) {
  const { deliveries } = await seller.deliveries.list({
    trigger: trigger as "order_paid",
  });
  return deliveries.find(({ event_id }) => event_id === id);
}

async function replay(seller: Client, event: string): Promise<void> {
  const trigger = "order_created";
  const { id } = (await deliveryOf(seller, trigger, event))!;
  await seller.deliveries.replay({ trigger, id });
}

type Forgery = { headers: Record<string, string>; body: string };

/** Deliveries that nobody may accept, by what is wrong with them. */
async function forgeries(secret: string): Promise<[string, Forgery][]> {
  const now = Math.floor(Date.now() / 1_000);
  const forged = async (by: string, at: number): Promise<Forgery> => {
    const id = crypto.randomUUID();
    const body = `<event><id>${id}</id><trigger>order_created</trigger>` +
      "<created_at>2026-11-20T08:00:00.000Z</created_at><data/></event>";
    return { headers: { ...await signWebhook(by, id, at, body) }, body };
  };
  const changed = await forged(secret, now);
  changed.body = changed.body.replace("order_created", "order_paid");
  return [
    ["a wrong signature", await forged(OTHER_SECRET, now)],
    ["a changed body", changed],
    ["an old timestamp", await forged(secret, now - HOUR_S)],
  ];
}

async function sendEvent(
  world: World,
  seller: string,
  trigger: "order_created" | "order_paid",
  reference: string,
): Promise<string> {
  const data = { total: "149.00" };
  const event = { seller, trigger, reference, data };
  return (await world.operator.events.create({ event })).event_id;
}

/** The ids of new events, in order. */
async function sendOrders(
  world: World,
  seller: string,
  count: number,
): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const reference = `order-${crypto.randomUUID()}`;
    ids.push(await sendEvent(world, seller, "order_created", reference));
  }
  return ids;
}

export async function eventsByCursor(world: World): Promise<Judge> {
  const seller = await world.addSeller("bakery");
  await sendOrders(world, "bakery", 260);
  const PULLS = /^\/seller_api\/events/;
  return async () => {
    const found = new Findings();
    const log = async () => linesOf(await world.read("events.log"));
    const expected: string[] = [];
    for await (const { id, trigger } of seller.events.list({ limit: 250 })) {
      expected.push(`${id} ${trigger}`);
    }
    found.ended(await world.run());
    found.equal(await log(), expected, "events.log after the first run");
    found.ended(await world.run());
    found.equal(await log(), expected, "events.log after the second run");
    const former = await world.read("cursor.txt");
    const more = await sendOrders(world, "bakery", 5);
    expected.push(...more.map((id) => `${id} order_created`));
    found.ended(await world.run());
    found.equal(await log(), expected, "events.log after the third run");
    await world.write("cursor.txt", former);
    found.ended(await world.run());
    found.equal(
      await log(),
      expected,
      "events.log after a run with the former cursor.txt",
    );
    const begins = world.proxy.sent("GET", PULLS)
      .filter(({ path }) => !/[?&]after=\w/.test(path));
    found.equal(begins.length, 1, "requests without after");
    return found.missing;
  };
}
