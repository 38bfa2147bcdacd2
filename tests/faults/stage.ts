/**
 * The whole service in this process, with a clock that the test controls, and
 * with everything on which it depends, so that tests can cause faults.
 */
import { threadSpawner } from "../../src/images/worker/spawn.ts";
import { boot, product, type TestApp } from "../support/app.ts";
import { pause, RunningClock, until } from "../support/clock.ts";
import { ImageHost } from "../support/image_host.ts";
import { tellingConfig } from "../notices/support.ts";
import { MailServer, type MailServerOptions } from "../support/mail_server.ts";
import { S3Server } from "../support/s3_server.ts";
import { OPERATOR } from "../processes/service.ts";
import { sometimesLogged, sometimesMeasured } from "../support/sometimes.ts";
import { WebhookSink } from "../support/webhook_sink.ts";
import { Watch } from "./watch.ts";

const FAULTY_WORKER = new URL(
  "../images/worker/faulty_worker.ts",
  import.meta.url,
);
/**
 * The interval of the worker's beats; relative to the clock, real time passes
 * slowly.
 */
const BEAT_MS = 1_000;
const WORKER_HEAP_MIB = 48;
/** Together as many downloads as determine a seller's share. */
const WARM_PRODUCTS = 7;
const WARM_IMAGES = 10;
/** Relative to real time, so that even a busy machine is prompt. */
const WARM_SPEED = 0.5;

interface Hooks {
  beforeCommit: () => void | Promise<void>;
}

export class Stage implements AsyncDisposable {
  readonly app: TestApp;
  readonly clock: RunningClock;
  readonly images: ImageHost;
  readonly sink: WebhookSink;
  readonly store: S3Server;
  readonly mail: MailServer;
  /** The mail server's answers to a recipient, and to the data. */
  readonly mailing: Required<Pick<MailServerOptions, "onRecipient" | "onData">>;
  /** The operator's endpoint. */
  readonly operator: WebhookSink;
  readonly watch: Watch;
  readonly #hooks: Hooks;
  readonly #stack: AsyncDisposableStack;
  #next = 0;

  private constructor(
    parts: Pick<
      Stage,
      | "app"
      | "clock"
      | "images"
      | "sink"
      | "store"
      | "mail"
      | "mailing"
      | "operator"
      | "watch"
    >,
    hooks: Hooks,
    stack: AsyncDisposableStack,
  ) {
    this.app = parts.app;
    this.clock = parts.clock;
    this.images = parts.images;
    this.sink = parts.sink;
    this.store = parts.store;
    this.mail = parts.mail;
    this.mailing = parts.mailing;
    this.operator = parts.operator;
    this.watch = parts.watch;
    this.#hooks = hooks;
    this.#stack = stack;
  }

  /** @param databaseUrl a database to use instead of a file */
  static async open(databaseUrl: string | null = null): Promise<Stage> {
    await using stack = new AsyncDisposableStack();
    const clock = stack.use(new RunningClock());
    const images = stack.use(new ImageHost());
    const sink = stack.use(new WebhookSink());
    const store = stack.use(new S3Server());
    const operator = stack.use(new WebhookSink());
    const parts: Pick<Stage, "mailing"> = {
      mailing: { onRecipient: () => null, onData: () => null },
    };
    const mail = stack.use(
      await MailServer.start({
        onRecipient: (...args) => parts.mailing.onRecipient(...args),
        onData: (...args) => parts.mailing.onData(...args),
      }),
    );
    store.skewMs = Infinity; // its client has another clock
    const hooks: Hooks = { beforeCommit: () => {} };
    const app = stack.use(
      await boot({
        config: {
          ...store.config(),
          databaseUrl,
          operatorKey: OPERATOR,
          roles: ["api", "images", "webhooks"],
          ...tellingConfig({ mail, operator }),
        },
        deps: { clock, beforeCommit: () => hooks.beforeCommit() },
        app: {
          imageRole: {
            spawn: threadSpawner(FAULTY_WORKER, WORKER_HEAP_MIB),
            beatMs: BEAT_MS,
          },
        },
      }),
    );
    const watch = stack.use(new Watch(app.url, clock));
    const served = { app, clock, images, sink, store, watch };
    const reported = { mail, mailing: parts.mailing, operator };
    const stage = new Stage({ ...served, ...reported }, hooks, stack.move());
    await until(() => watch.ready, "readiness");
    return stage;
  }

  /**
   * A host that has answered, and a seller whose latest downloads were prompt,
   * may have the most downloads at once.
   */
  async warmUp(): Promise<void> {
    const products = Array.from({ length: WARM_PRODUCTS }, () => {
      const images = Array.from(
        { length: WARM_IMAGES },
        () => `<image>${this.images.url}/good/${this.name("warm")}.png</image>`,
      );
      return product(this.name("warm"), `<images>${images.join("")}</images>`);
    });
    this.clock.speed = WARM_SPEED;
    const uploaded = await this.app.upload(products.join(""));
    await until(async () => {
      const { source } = await this.app.status(uploaded);
      return source.includes("<status>completed</status>");
    }, "prompt downloads");
    this.clock.speed = 1;
  }

  get dataDir(): string {
    return this.app.config.dataDir;
  }

  /** Called before each commit. */
  set beforeCommit(hook: () => void | Promise<void>) {
    this.#hooks.beforeCommit = hook;
  }

  /** A name that was not used before. */
  name(prefix: string): string {
    return `${prefix}${this.#next++}`;
  }

  /** Records the rare paths that the log and metrics show. */
  async noteRarePaths(): Promise<void> {
    sometimesLogged(this.app.log);
    const headers = { authorization: `Bearer ${OPERATOR}` };
    const { text } = await this.app.call("/metrics", { key: null, headers });
    sometimesMeasured(text);
  }

  /** Advances the clock by this time, this many times as fast as real time. */
  async pass(ms: number, speed: number): Promise<void> {
    this.clock.speed = speed;
    const end = this.clock.monotonic() + ms;
    while (this.clock.monotonic() < end) await pause(5);
    this.clock.speed = 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.clock.speed = 10;
    await this.#stack.disposeAsync();
  }
}
