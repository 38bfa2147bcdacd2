/** A long document takes long to read; nobody else has to wait for it. */
import { assertEquals } from "@std/assert";
import { type Clock, systemClock } from "../../src/deps.ts";
import { WINDOW } from "../../src/xml/source.ts";
import { boot, product } from "../support/app.ts";
import { until } from "../support/clock.ts";

/** Holds the pauses between two pieces until they are let go. */
class Pauses {
  readonly held: (() => void)[] = [];
  readonly clock: Clock = {
    ...systemClock,
    after: (ms, fn) => {
      if (ms !== 0) return systemClock.after(ms, fn);
      this.held.push(fn);
      return () => {};
    },
  };

  /** Lets one reading go on to its next pause, or to its end. */
  release(): void {
    this.held.shift()!();
  }
}

Deno.test("others are answered between the pieces of a long document", async () => {
  const pauses = new Pauses();
  await using app = await boot({ deps: { clock: pauses.clock } });
  const other = await app.addSeller("other");
  const long = (sku: string) => product(sku) + " ".repeat(5 * WINDOW);
  const seen = (count: number) =>
    until(() => pauses.held.length === count, `${count} pauses`);

  const first = app.upload(long("A"));
  const second = app.upload(long("B"));
  await seen(1); // the second one's turn has not come
  const theirs = app.call("/seller_api/bulk_products", {
    key: other,
    method: "POST",
    body: `<products>${long("A")}</products>`,
  });
  await seen(2); // another seller's has
  assertEquals((await app.upload(product("C"))).status, 200, "a short one");

  let over = false;
  const all = Promise.all([first, second, theirs]);
  all.finally(() => over = true);
  await until(() => {
    if (pauses.held.length > 0) pauses.release();
    return over;
  });
  assertEquals((await all).map(({ status }) => status), [200, 200, 200]);
});
