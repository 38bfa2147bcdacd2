/**
 * A service that notifies sellers and its operator, with recipients for both.
 */
import type { Config } from "../../src/config.ts";
import { boot, type BootOptions, type TestApp } from "../support/app.ts";
import { assertEquals } from "@std/assert";
import { RunningClock, until } from "../support/clock.ts";
import { MailServer, type MailServerOptions } from "../support/mail_server.ts";
import { type Received, WebhookSink } from "../support/webhook_sink.ts";

export const SECRET = `whsec_${btoa("thirty-two bytes of no entropy..")}`;
export const OPERATOR_KEY = "op";
export const EMAIL = "orders@acme.example";

/** Far below every time limit of the service. */
const STEP_MS = 500;

/** A clock that advances by itself, and whose wall clock can be set forward. */
class SettableClock extends RunningClock {
  #aheadMs = 0;

  override now(): number {
    return super.now() + this.#aheadMs;
  }

  setForward(ms: number): void {
    this.#aheadMs += ms;
  }
}

/** The notices that the operator received. */
export interface ToOperator extends Received {
  payload: { type: string; timestamp: string; data: Record<string, unknown> };
}

export interface TellingOptions extends BootOptions {
  mail?: MailServerOptions;
}

export class Telling implements AsyncDisposable {
  readonly app: TestApp;
  readonly mail: MailServer;
  readonly operator: WebhookSink;
  readonly clock: SettableClock;
  /** Other processes of the same service. */
  readonly others: TestApp[] = [];

  constructor(
    parts: Pick<Telling, "app" | "mail" | "operator" | "clock">,
  ) {
    this.app = parts.app;
    this.mail = parts.mail;
    this.operator = parts.operator;
    this.clock = parts.clock;
  }

  /** The notices to the operator, by type. */
  told(type: string): ToOperator[] {
    return this.operator.received
      .map((one) => ({ ...one, payload: JSON.parse(one.text) }))
      .filter(({ payload }) => payload.type === type);
  }

  /**
   * Resolves as soon as `condition` holds. While nothing is in progress, time
   * advances at once; otherwise at its own pace, so that a machine that stalls
   * exceeds no time limit of the service.
   */
  async until(
    condition: () => boolean | Promise<boolean>,
    what: string,
  ): Promise<void> {
    await until(async () => {
      if (await condition()) return true;
      if (this.#isAtRest()) this.clock.advance(STEP_MS);
      return false;
    }, what);
  }

  /** Advances the clock this far at once, as soon as nothing is in progress. */
  async leap(ms: number): Promise<void> {
    await until(() => this.#isAtRest(), "rest");
    this.clock.advance(ms);
  }

  /** Advances the clock this far. */
  async pass(ms: number): Promise<void> {
    const end = this.clock.monotonic() + ms;
    await this.until(() => this.clock.monotonic() >= end, `${ms} ms later`);
  }

  #isAtRest(): boolean {
    return [this.app, ...this.others].every(({ app }) =>
      Object.keys(app.holders.inUse()).every((name) => name.endsWith(".idle"))
    );
  }

  /** Resolves when so many mails have arrived, and are known to have. */
  async mailed(count: number): Promise<void> {
    await this.until(async () => {
      if (this.mail.received.length < count) return false;
      const leased = await this.app.app.db.read((sql) =>
        sql.all("SELECT 1 FROM notices WHERE lease_id IS NOT NULL")
      );
      return leased.length === 0;
    }, `mail ${count}`);
    assertEquals(this.mail.received.length, count);
  }

  /** Sets an attribute of the seller. */
  async set(attribute: string, value: string): Promise<void> {
    const path = `/operator_api/sellers/${this.app.sellerId}/attribute/` +
      `${attribute}/${encodeURIComponent(value)}`;
    const call = { method: "PUT", key: OPERATOR_KEY };
    const { status, text } = await this.app.call(path, call);
    if (status !== 204) throw new Error(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]();
    await this.mail[Symbol.asyncDispose]();
    await this.operator[Symbol.asyncDispose]();
    this.clock[Symbol.dispose]();
  }
}

/** The settings of a service that sends notices. */
export function tellingConfig(
  { mail, operator }: Pick<Telling, "mail" | "operator">,
): Partial<Config> {
  return {
    noticesUrl: operator.url("/notices"),
    noticesSecret: SECRET,
    smtpUrl: { host: "127.0.0.1", port: mail.port, secure: false, login: null },
    mailFrom: { name: "", address: "notices@shop.example" },
    publicUrl: "https://sell.example",
  };
}

export async function tell(
  { mail: options, ...more }: TellingOptions = {},
): Promise<Telling> {
  const mail = await MailServer.start(options);
  const operator = new WebhookSink();
  const clock = new SettableClock();
  const app = await boot({
    ...more,
    config: {
      operatorKey: OPERATOR_KEY,
      ...tellingConfig({ mail, operator }),
      ...more.config,
    },
    deps: { clock, ...more.deps },
  });
  return new Telling({ app, mail, operator, clock });
}
