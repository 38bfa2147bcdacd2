/**
 * Requests of one owner that arrive together let those of others run in
 * between.
 */
import { assertEquals } from "@std/assert";
import { systemDeps } from "../../../src/deps.ts";
import {
  BEGUN_AT_ONCE,
  RequestPacer,
  WORK_MS,
} from "../../../src/http/admission/request_pacer.ts";
import { boot, product } from "../../support/app.ts";
import { inTime, TestClock, until } from "../../support/clock.ts";
import { gate } from "../../support/webhook_sink.ts";

Deno.test("a few requests of an owner begin at once, and as many after each poll for other requests", async () => {
  let look = Promise.withResolvers<void>();
  const clock = new TestClock();
  const yieldToIo = () => look.promise;
  const pacer = new RequestPacer({ clock, yieldToIo });
  const begun: string[] = [];
  const slots = new DisposableStack();
  const begin = async (owner: string) => {
    await pacer.begin(owner, slots);
    begun.push(owner);
  };
  const looked = async () => {
    const { resolve } = look;
    look = Promise.withResolvers();
    resolve();
    await new Promise((done) => setTimeout(done));
  };
  const all = Array.from({ length: 3 * BEGUN_AT_ONCE - 1 }, () => begin("a"));
  await Promise.resolve();
  assertEquals(begun.length, BEGUN_AT_ONCE);
  assertEquals(pacer.inUse(), { waiting: 2 * BEGUN_AT_ONCE - 1 });
  await begin("b");
  assertEquals(begun.at(-1), "b", "another owner waits for no look");
  await looked();
  assertEquals(begun.length, 2 * BEGUN_AT_ONCE + 1);
  await looked();
  await Promise.all(all);
  slots.dispose();
  assertEquals(pacer.inUse(), { waiting: 0 });
});

Deno.test("requests of other owners run between slow requests of one owner", async () => {
  const clock = new TestClock();
  let looks = 0;
  const yieldToIo = () => Promise.resolve(void looks++);
  const pacer = new RequestPacer({ clock, yieldToIo });
  for (let n = 0; n < 12; n++) {
    using held = new DisposableStack();
    await pacer.begin("a", held);
    clock.advance(WORK_MS / 4);
  }
  assertEquals(looks, 2);
});

Deno.test("the time of requests that overlap counts once", async () => {
  const clock = new TestClock();
  let looks = 0;
  const yieldToIo = () => Promise.resolve(void looks++);
  const pacer = new RequestPacer({ clock, yieldToIo });
  for (let n = 0; n < 2; n++) {
    using held = new DisposableStack();
    for (let m = 0; m < BEGUN_AT_ONCE; m++) await pacer.begin("a", held);
    clock.advance(WORK_MS / 4);
  }
  assertEquals(looks, 0);
});

for (const path of ["/metrics", "/docs/api", "/seller_api/keys"]) {
  Deno.test(`many requests at once let others in: ${path}`, async () => {
    const { yieldToIo } = systemDeps("error");
    const { opened, open } = gate();
    let isShut = false;
    await using app = await boot({
      config: { metricsKey: "metrics" },
      deps: {
        yieldToIo: () => isShut ? opened.then(yieldToIo) : yieldToIo(),
      },
    });
    isShut = true;
    const headers = { authorization: "Bearer metrics" };
    const key = path.startsWith("/seller_api") ? app.key : null;
    const all = Array.from(
      { length: 110 },
      () => app.call(path, { key, headers }),
    );
    const areWaiting = () =>
      app.app.holders.inUse()["paced_requests.waiting"] > 0;
    await until(areWaiting, "those that wait").finally(open);
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    assertEquals(statuses, statuses.map(() => 200));
  });
}

Deno.test("updates of one value that arrive together begin together and share a commit", async () => {
  const { yieldToIo } = systemDeps("error");
  const { opened, open } = gate();
  let isShut = false;
  await using app = await boot({
    deps: {
      // No write takes so long that it lets others run.
      clock: new TestClock(),
      yieldToIo: () => isShut ? opened.then(yieldToIo) : yieldToIo(),
    },
  });
  const skus = Array.from({ length: 3 * BEGUN_AT_ONCE }, (_, n) => `S-${n}`);
  await app.upload(skus.map((sku) => product(sku)).join(""));
  isShut = true;
  const all = skus.map((sku) =>
    app.call(`/seller_api/products/${sku}/attribute/quantity/3`, {
      method: "PUT",
    })
  );
  const answers = await inTime(Promise.all(all), "the answers").finally(open);
  assertEquals(answers.map(({ status }) => status), skus.map(() => 204));
});
