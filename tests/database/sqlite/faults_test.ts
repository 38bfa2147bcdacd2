/** The whole service with a full disk, and with a clock that is set back. */
import { assert, assertEquals } from "@std/assert";
import { type Clock, systemClock } from "../../../src/deps.ts";
import {
  type Answer,
  boot,
  codeOf,
  product,
  type TestApp,
  textAt,
} from "../../support/app.ts";
import { until } from "../../support/clock.ts";
import { ImageHost } from "../../support/image_host.ts";
import { gate, WebhookSink } from "../../support/webhook_sink.ts";

const OPERATOR = "operator-key";
const HOUR = 3_600_000;

async function pages(app: TestApp, most?: number): Promise<number> {
  const row = await app.app.db.write(async (tx) => {
    if (most !== undefined) await tx.get(`PRAGMA max_page_count = ${most}`);
    return await tx.get<{ page_count: number }>("PRAGMA page_count");
  });
  return row!.page_count;
}

Deno.test("on a full disk writes are refused whole and reads continue; writes recover", async () => {
  let now = 0;
  const clock: Clock = { ...systemClock, monotonic: () => now };
  await using app = await boot({
    deps: { clock },
    config: { operatorKey: OPERATOR },
  });
  assertEquals((await app.upload(product("before"))).status, 200);
  await pages(app, await pages(app));
  const long = `<description>${"x".repeat(4_000)}</description>`;
  // More than the free pages that the migrations left.
  const many = Array.from({ length: 200 }, (_, n) => product(`p-${n}`, long));
  const answers = await Promise.all([
    app.upload(many.join("")),
    app.upload(many.join(""), "", { "Idempotency-Key": "k" }),
  ]);
  for (const answer of answers) {
    assertEquals([answer.status, codeOf(answer)], [503, "unavailable"]);
    assertEquals(answer.headers.get("retry-after"), "5");
    assert(!/sqlite|disk|page/i.test(answer.text), answer.text);
  }
  const stored = await app.app.db.read((sql) =>
    sql.all<{ sku: string }>("SELECT sku FROM products ORDER BY sku")
  );
  assertEquals(stored, [{ sku: "before" }], "nothing of them is stored");
  assertEquals((await app.call("/seller_api/webhooks")).status, 200);
  await pages(app, 1_000_000);
  const again = await app.upload(many.join(""), "", {
    "Idempotency-Key": "k",
  });
  assertEquals(again.status, 200, "the key was not used up");
  now += 1_000;
  assertEquals((await app.call("/readyz", { key: null })).status, 200);
});

/** A service with work of all kinds, and a clock that the test sets. */
class Shop implements AsyncDisposable {
  readonly images = new ImageHost();
  readonly sink = new WebhookSink();
  app!: TestApp;
  /** Milliseconds between its clock and the real one. */
  offset = 0;

  static async open(): Promise<Shop> {
    const shop = new Shop();
    const clock: Clock = {
      ...systemClock,
      now: () => systemClock.now() + shop.offset,
    };
    shop.app = await boot({
      deps: { clock },
      config: {
        operatorKey: OPERATOR,
        rateLimit: 6_000,
        roles: ["api", "images", "webhooks"],
      },
      // Hanging hosts hang until they are released, however busy the machine
      // is.
      app: { imageRole: { answerMs: 120_000 } },
    });
    const body = "<webhook><trigger>order_created</trigger>" +
      `<url>${shop.sink.url()}</url></webhook>`;
    const registered = await shop.app.call("/seller_api/webhooks", {
      method: "POST",
      body,
    });
    assertEquals(registered.status, 200, registered.text);
    return shop;
  }

  upload(sku: string, path: string, key?: string) {
    const url = `${this.images.url}${path}`;
    return this.app.upload(
      product(sku, `<images><image>${url}</image></images>`),
      "",
      key === undefined ? {} : { "Idempotency-Key": key },
    );
  }

  async completed(uploaded: Answer): Promise<void> {
    await until(async () => {
      const status = textAt(
        await this.app.status(uploaded, "?wait=5"),
        "status",
      );
      return status === "completed";
    }, "every image");
  }

  async emit(reference: string): Promise<string> {
    const answer = await this.app.call("/operator_api/events", {
      key: OPERATOR,
      method: "POST",
      body: "<event><seller>acme</seller><trigger>order_created</trigger>" +
        `<reference>${reference}</reference></event>`,
    });
    assertEquals(answer.status, 200, answer.text);
    return textAt(answer.xml, "event_id");
  }

  async arrived(id: string): Promise<void> {
    const of = ({ headers }: { headers: Headers }) =>
      headers.get("webhook-id") === id;
    await until(() => this.sink.received.some(of), "the event");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]();
    await this.images[Symbol.asyncDispose]();
    await this.sink[Symbol.asyncDispose]();
  }
}

Deno.test("when the clock jumps back an hour, running and new work continues", async () => {
  await using shop = await Shop.open();
  const { app, images, sink } = shop;
  const first = await shop.upload("A", "/good/a.png", "key-1");
  await shop.completed(first);

  const { open, opened } = gate();
  sink.answering = async () => {
    await opened;
    return new Response();
  };
  const hanging = await shop.upload("B", "/hang/b.png");
  const held = await shop.emit("held");
  await until(
    () => images.count("/hang/b.png") === 1 && sink.received.length === 1,
    "both under way",
  );
  const retried = await shop.upload("R", "/flaky/r.png");
  await until(async () => {
    const row = await app.app.db.read((sql) =>
      sql.get("SELECT 1 FROM images WHERE attempts > 0 AND url LIKE '%/r.png'")
    );
    return row !== undefined;
  }, "its first attempt");
  shop.offset = -HOUR;
  const fresh = await shop.upload("C", "/flaky/c.png");
  const more = await shop.emit("more");
  await shop.arrived(more);
  await shop.completed(fresh);
  assertEquals(images.count("/flaky/c.png"), 2);
  // It was due by the old clock.
  await shop.completed(retried);

  const again = await shop.upload("A", "/good/a.png", "key-1");
  assertEquals(again.text, first.text, "the key still stands for the answer");
  const remaining = Number(again.headers.get("ratelimit-remaining"));
  assert(remaining > 500 && remaining < 600, `${remaining}`);

  images.release();
  open();
  await shop.completed(hanging);
  await until(async () => {
    const row = await app.app.db.read((sql) =>
      sql.get<{ n: number }>(
        "SELECT COUNT(*) AS n FROM deliveries WHERE state <> 'delivered'",
      )
    );
    return row!.n === 0;
  }, "every delivery");
  assertEquals(images.count("/hang/b.png"), 1, "no lease was lost");
  assertEquals(
    sink.received.map(({ headers }) => headers.get("webhook-id")).sort(),
    [held, more].sort(),
  );
});
