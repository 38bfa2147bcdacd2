/** The delivery role with a database, a clock and a sink, without HTTP. */
import {
  type Deps,
  jsonLog,
  systemClock,
  systemDeps,
  systemIds,
} from "../../src/deps.ts";
import type { Trigger } from "../../src/webhooks/trigger.ts";
import { type Ingested, ingestEvent } from "../../src/webhooks/ingest.ts";
import { Metrics } from "../../src/monitoring/metrics.ts";
import { newSignals, type Signals } from "../../src/jobs/signals.ts";
import type { Db } from "../../src/database/db.ts";
import {
  listAttempts,
  listDeliveries,
  type LoggedAttempt,
  type LoggedDelivery,
} from "../../src/webhooks/delivery_log.ts";
import {
  KEPT_ATTEMPTS,
  type WebhookFormat,
} from "../../src/webhooks/webhook.ts";
import { addSeller } from "../../src/sellers/seller_rows.ts";
import { listWebhooks, putWebhook } from "../../src/webhooks/webhook_rows.ts";
import { WebhookRole } from "../../src/webhooks/worker/role.ts";
import { TestClock, until } from "./clock.ts";
import { testConfig } from "./config.ts";
import { makeDataDir } from "./data_dir.ts";
import { openStore } from "./engine.ts";
import { WebhookSink } from "./webhook_sink.ts";

export class WebhookBench implements AsyncDisposable {
  readonly clock: TestClock;
  readonly signals: Signals = newSignals();
  readonly metrics = new Metrics("sqlite");
  readonly sink = new WebhookSink();
  readonly deps: Deps;
  readonly log: string[] = [];
  readonly db: Db;
  readonly seller: { id: string; no: number; secret: string };
  readonly dataDir: string;
  readonly #roles: WebhookRole[] = [];

  constructor(
    dataDir: string,
    clock: TestClock,
    db: Db,
    seller: { id: string; no: number; secret: string },
  ) {
    this.dataDir = dataDir;
    this.clock = clock;
    this.deps = {
      ...systemDeps("debug"),
      clock,
      log: jsonLog("debug", (line) => this.log.push(line)),
    };
    this.db = db;
    this.seller = seller;
  }

  static async open(): Promise<WebhookBench> {
    const dataDir = makeDataDir();
    const clock = new TestClock();
    // The timers of the database run by themselves.
    const db = openStore(dataDir, {
      clock: { ...systemClock, now: () => clock.now() },
    });
    const { seller, webhookSecret } = await db.write((tx) =>
      addSeller(tx, { clock, ids: systemIds }, "acme")
    );
    const known = { ...seller, secret: webhookSecret };
    return new WebhookBench(dataDir, clock, db, known);
  }

  /** A role that is not started. */
  role(shared = false): WebhookRole {
    const { dataDir, deps, db, signals, metrics } = this;
    const config = testConfig({ dataDir });
    const services = { config, deps, db, signals, metrics, network: {} };
    const role = new WebhookRole(services, { shared });
    this.#roles.push(role);
    return role;
  }

  /** A running role. */
  start(): WebhookRole {
    const role = this.role();
    role.start();
    return role;
  }

  async register(
    url = this.sink.url(),
    trigger: Trigger = "order_created",
    sellerNo = this.seller.no,
    format: WebhookFormat = "xml",
  ): Promise<void> {
    await this.db.write((tx) =>
      putWebhook(tx, this.deps, sellerNo, { trigger, url, format })
    );
    this.signals.deliveries.notify();
  }

  emit(
    reference: string,
    trigger: Trigger = "order_created",
    seller = "acme",
  ): Promise<Ingested> {
    const draft = {
      seller: { text: seller },
      trigger: { text: trigger },
      reference: { text: reference },
      data: { xml: `<order>${reference}</order>` },
      details: [],
    };
    return ingestEvent(this, draft);
  }

  /** All deliveries, the oldest first. */
  async deliveries(): Promise<LoggedDelivery[]> {
    const newest = await this.db.read((sql) =>
      listDeliveries(sql, { limit: 10_000 })
    );
    return newest.reverse();
  }

  /** The delivery of an event, once it is in one of these states. */
  async delivery(
    { deliveryId }: Pick<Ingested, "deliveryId">,
    ...states: string[]
  ): Promise<LoggedDelivery> {
    let found: LoggedDelivery | undefined;
    await until(async () => {
      found = (await this.deliveries()).find(({ id }) => id === deliveryId);
      return found !== undefined && states.includes(found.state);
    }, `a delivery that is ${states.join(" or ")}`);
    return found!;
  }

  attempts({ deliveryId }: Ingested): Promise<LoggedAttempt[]> {
    return this.db.read((sql) =>
      listAttempts(sql, this.seller.no, [deliveryId!], KEPT_ATTEMPTS)
    );
  }

  async webhook() {
    const [webhook] = await this.db.read((sql) =>
      listWebhooks(sql, this.seller.no)
    );
    return webhook;
  }

  /** Stops a role, advancing the time that it grants to hanging requests. */
  async stopped(role: WebhookRole): Promise<void> {
    const stopped = role.stop();
    const moving = setInterval(() => this.clock.advance(1_000), 5);
    await stopped;
    clearInterval(moving);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const role of this.#roles) await this.stopped(role);
    await this.sink[Symbol.asyncDispose]();
    await this.db.close();
    await Deno.remove(this.dataDir, { recursive: true });
  }
}
