/**
 * Writes of one seller in two processes, one of which is held before its
 * commit: writes of the same rows wait for it, and others do not. Each test
 * fails if the lock that it is about is removed, or locks the whole seller.
 */
import { assert, assertEquals } from "@std/assert";
import {
  type Answer,
  boot,
  product,
  type TestApp,
  textAt,
} from "../../support/app.ts";
import { until } from "../../support/clock.ts";
import { ImageHost } from "../../support/image_host.ts";
import { ownServer } from "../../support/postgres.ts";
import { bootReplicas, type Replicas } from "../../support/replicas.ts";

const server = await ownServer();

/** Two processes; the commits of one can be held. */
class Held implements AsyncDisposable {
  readonly #service: Replicas;
  readonly #slow: TestApp;
  commit: Promise<void> | undefined;

  private constructor(service: Replicas, slow: TestApp) {
    this.#service = service;
    this.#slow = slow;
  }

  static async open(): Promise<Held> {
    const service = await bootReplicas(server, [{ roles: ["api"] }]);
    const [app] = service.apps;
    const hook: { held?: Held } = {};
    const slow = await boot({
      config: { ...app.config },
      seller: { id: app.sellerId, key: app.key },
      deps: { beforeCommit: () => hook.held?.commit },
      // A held commit of a maintenance job would delay the other's.
      app: { maintain: false },
    });
    const held = new Held(service, slow);
    hook.held = held;
    assertEquals((await put(app, "A", "B", "C")).status, 200);
    return held;
  }

  /** The process whose commits are not held. */
  get app(): TestApp {
    return this.#service.apps[0];
  }

  /**
   * Holds `first` before its commit while `second` runs in the other process,
   * until that has ended or waits for a lock. Returns the kind of that lock, or
   * null if it did not wait. The write of `first` is recognised by a table.
   */
  async run<A, B>(
    first: (app: TestApp) => Promise<A>,
    second: (app: TestApp) => Promise<B>,
    table?: string,
  ): Promise<{ first: A; second: B; waited: boolean; lock: string | null }> {
    const commit = Promise.withResolvers<void>();
    this.commit = commit.promise;
    const early = first(this.#slow);
    await until(() => this.#service.hasWritten(table));
    let hasEnded = false;
    const late = second(this.app).finally(() => hasEnded = true);
    let lock: string | null = null;
    await until(async () => {
      lock = await this.#service.awaitedLock();
      return hasEnded || lock !== null;
    });
    const waited = !hasEnded;
    this.commit = undefined;
    commit.resolve();
    return { first: await early, second: await late, waited, lock };
  }

  /** Sets how many products the seller may have. */
  async limit(products: number): Promise<void> {
    await this.app.app.db.write((tx) =>
      tx.run("UPDATE sellers SET product_limit = ?", [products], "any")
    );
  }

  row<T>(sql: string): Promise<T> {
    return this.#service.row<T>(sql);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#slow[Symbol.asyncDispose]();
    await this.#service[Symbol.asyncDispose]();
  }
}

function put(app: TestApp, ...skus: string[]) {
  return app.upload(skus.map((sku) => product(sku)).join(""));
}

function set(app: TestApp, sku: string, attribute: string, value: unknown) {
  return app.call(
    `/seller_api/products/${sku}/attribute/${attribute}/${value}`,
    {
      method: "PUT",
    },
  );
}

/** An upload that changes one field of a product. */
function change(app: TestApp, sku: string, field: string) {
  return app.upload(`<product><sku>${sku}</sku>${field}</product>`);
}

Deno.test("writes of other products of the seller do not wait", async () => {
  await using held = await Held.open();
  await put(held.app, "D");
  const { first, second, waited } = await held.run(
    (app) => put(app, "NEW-1", "A"),
    async (app) => [
      await set(app, "B", "quantity", 5),
      // One of each two may use the same shard of a counter as the held one.
      await Promise.any(
        ["C", "D"].map((sku) => change(app, sku, "<brand>x</brand>")),
      ),
      await Promise.any([put(app, "NEW-2"), put(app, "NEW-3")]),
    ],
  );
  assertEquals(waited, false);
  assertEquals(first.status, 200);
  assertEquals(second.map(({ status }) => status), [204, 200, 200]);
  await until(async () => {
    const { used } = await held.row<{ used: number }>(
      "SELECT SUM(used) AS used FROM seller_usage",
    );
    return used === 7;
  });
});

Deno.test("an attribute is validated after an earlier write of its product", async () => {
  await using held = await Held.open();
  await set(held.app, "A", "compare_at_price", 300);
  const { first, second, waited } = await held.run(
    (app) => set(app, "A", "price", 250),
    (app) => set(app, "A", "compare_at_price", 200),
  );
  assertEquals([first.status, waited, second.status], [204, true, 422]);
});

Deno.test("an upload is planned after an earlier update of its product, and an update after an upload", async () => {
  await using held = await Held.open();
  await set(held.app, "A", "compare_at_price", 300);
  const upload = await held.run(
    (app) => set(app, "A", "price", 250),
    (app) =>
      change(
        app,
        "A",
        "<compare_at_price>200</compare_at_price>",
      ),
  );
  assertEquals([upload.waited, upload.second.status], [true, 422]);
  const update = await held.run(
    (app) => change(app, "A", '<price currency="SEK">280</price>'),
    (app) => set(app, "A", "compare_at_price", 270),
  );
  assertEquals([update.waited, update.second.status], [true, 422]);
});

Deno.test("a deletion and an upload of the product run in turn", async () => {
  await using held = await Held.open();
  const { first, second, waited } = await held.run(
    (app) => app.call("/seller_api/products/A", { method: "DELETE" }),
    (app) => change(app, "A", "<brand>x</brand>"),
  );
  // It would be new, and lacks fields of a new product.
  assertEquals([first.status, waited, second.status], [200, true, 422]);
});

Deno.test("a new SKU of two uploads is one product", async () => {
  await using held = await Held.open();
  const { first, second, waited } = await held.run(
    (app) => put(app, "X", "Y"),
    (app) => put(app, "Y", "X", "Z"),
  );
  assertEquals([first.status, waited, second.status], [200, true, 200]);
  const record = await held.app.status(second);
  assertEquals(
    ["created", "unchanged"].map((n) => textAt(record, `products/${n}`)),
    ["1", "2"],
  );
});

Deno.test("an upload waits for one of the same products before it reads them", async () => {
  await using held = await Held.open();
  const { first, second, lock } = await held.run(
    (app) => change(app, "A", "<brand>x</brand>"),
    (app) => put(app, "A", "B", "C"),
  );
  assertEquals([first.status, second.status, lock], [200, 200, "advisory"]);
});

Deno.test("an SKU that two products take at once goes to one of them", async () => {
  await using held = await Held.open();
  const { first, second, waited } = await held.run(
    (app) => set(app, "A", "sku", "same"),
    (app) => set(app, "B", "sku", "same"),
  );
  assertEquals([first.status, waited, second.status], [204, true, 422]);
  assert(second.text.includes("sku_taken"), second.text);
});

Deno.test("an SKU is found while one product releases it and another takes it", async () => {
  await using held = await Held.open();
  const ids = new Map<string, string>();
  for (const sku of ["A", "B"]) {
    const { xml } = await held.app.call(`/seller_api/products/${sku}`);
    ids.set(sku, textAt(xml, "product/id"));
  }
  const name = (app: TestApp, first: string, second: string) =>
    app.upload(
      `<product><id>${ids.get("A")}</id><sku>${first}</sku></product>` +
        `<product><id>${ids.get("B")}</id><sku>${second}</sku></product>`,
    );
  const update = await held.run(
    (app) => name(app, "B", "A"),
    (app) => set(app, "A", "quantity", 5),
  );
  assertEquals([update.waited, update.second.status], [true, 204]);
  const upload = await held.run(
    (app) => name(app, "A", "B"),
    (app) => change(app, "A", "<brand>x</brand>"),
  );
  assertEquals([upload.first.status, upload.waited], [200, true]);
  assertEquals(upload.second.status, 200, upload.second.text);
});

Deno.test("failed images are retried once, whichever process is asked", async () => {
  await using host = new ImageHost();
  await using held = await Held.open();
  const image = `<images><image>${host.url}/good/a.png</image></images>`;
  const { xml } = await change(held.app, "A", image);
  await held.app.app.db.write(async (tx) => {
    await tx.run(
      "UPDATE images SET state = 'failed', due_at = NULL",
      [],
      "any",
    );
    await tx.run("UPDATE transaction_images SET status = 'failed'", [], "any");
    await tx.run(
      `UPDATE transactions SET images_pending = 0, images_failed = 1
       WHERE images_pending = 1`,
      [],
      "any",
    );
  });
  const retry = (app: TestApp) =>
    app.call(
      `/seller_api/bulk_products/${textAt(xml, "transaction_id")}/images/retry`,
      { method: "POST" },
    );
  const { first, second } = await held.run(retry, retry, "transactions");
  assertEquals([first.status, second.status], [200, 200]);
  assertEquals(
    await held.row(
      "SELECT images_pending, images_failed FROM transactions ORDER BY id DESC",
    ),
    { images_pending: 1, images_failed: 0 },
  );
});

Deno.test("an undo and an upload together stay within the seller's limit of products", async () => {
  await using held = await Held.open();
  const undo = (app: TestApp, { xml }: Answer) =>
    app.call(
      `/seller_api/bulk_products/${textAt(xml, "transaction_id")}/undo`,
      { method: "POST" },
    );
  const undone = await undo(held.app, await put(held.app, "D"));
  await held.limit(4);
  const { first, second, waited } = await held.run(
    (app) => put(app, "E"),
    (app) => undo(app, undone),
  );
  assertEquals([first.status, waited, second.status], [200, true, 422]);
  assert(second.text.includes("quota"), second.text);
});

Deno.test("an undo sees what a write in progress changes", async () => {
  await using held = await Held.open();
  const changed = await change(held.app, "A", "<brand>x</brand>");
  const id = textAt(changed.xml, "transaction_id");
  const { second, waited } = await held.run(
    (app) => set(app, "A", "brand", "y"),
    (app) =>
      app.call(`/seller_api/bulk_products/${id}/undo`, { method: "POST" }),
  );
  assertEquals([waited, second.status], [true, 422]);
  assert(second.text.includes("changed_since"), second.text);
});
