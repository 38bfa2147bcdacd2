/** Several complete services that change the same rows at the same time. */
import { assert, assertEquals } from "@std/assert";
import {
  boot,
  codeOf,
  product,
  type TestApp,
  textAt,
} from "../../support/app.ts";
import { until } from "../../support/clock.ts";
import { ImageHost } from "../../support/image_host.ts";
import { ownServer } from "../../support/postgres.ts";
import { Random } from "../../support/random.ts";
import { bootReplicas, type Replicas } from "../../support/replicas.ts";
import { WebhookSink } from "../../support/webhook_sink.ts";

const server = await ownServer();

const API = { roles: ["api"] as const, operatorKey: "operator" };
const OPERATOR = { key: "operator", method: "POST" };

function times<T>(count: number, fn: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => fn(i));
}

Deno.test("an SKU belongs to one product, whichever process is asked", async () => {
  await using service = await bootReplicas(server, [API, API, API]);
  const answers = await Promise.all(
    times(30, (i) =>
      service.apps[i % 3].upload(
        times(20, (n) => product(`A-${n}`, `<brand>B${i}</brand>`)).join(""),
      )),
  );
  assertEquals(answers.map(({ status }) => status), Array(30).fill(200));
  const counts = await service.row<Record<string, number>>(
    `SELECT SUM(products_created) AS created, SUM(products_updated) AS updated,
       (SELECT COUNT(*) FROM products) AS products FROM transactions`,
  );
  assertEquals(counts, { created: 20, updated: 580, products: 20 });

  const renamed = await Promise.all(
    times(20, (n) =>
      service.apps[n % 3].call(
        `/seller_api/products/A-${n}/attribute/sku/same`,
        { method: "PUT" },
      )),
  );
  const refused = renamed.filter(({ status }) => status !== 204);
  assertEquals(refused.map(({ status }) => status), Array(19).fill(422));
  for (const answer of refused) assert(answer.text.includes("sku_taken"));
});

Deno.test("an Idempotency-Key is used once, whichever process is asked", async () => {
  await using service = await bootReplicas(server, [API, API, API]);
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(
      times(6, (i) =>
        service.apps[i % 3].upload(product("A"), "", {
          "Idempotency-Key": `key-${round}`,
        })),
    );
    const done = answers.filter(({ status }) => status === 200);
    assert(done.length >= 3, "one for each process at least");
    assertEquals(new Set(done.map(({ text }) => text)).size, 1);
    for (const answer of answers) {
      if (answer.status !== 200) {
        assertEquals(codeOf(answer), "idempotency_key_in_progress");
      }
    }
  }
  const { n } = await service.row<{ n: number }>(
    "SELECT COUNT(*) AS n FROM transactions",
  );
  assertEquals(n, 5);
});

Deno.test("an upload is undone once, whichever process is asked", async () => {
  await using service = await bootReplicas(server, [API, API, API]);
  for (let round = 0; round < 5; round++) {
    const upload = await service.apps[0].upload(product(`A-${round}`));
    const id = textAt(upload.xml, "transaction_id");
    const answers = await Promise.all(
      times(
        6,
        (i) =>
          service.apps[i % 3].call(`/seller_api/bulk_products/${id}/undo`, {
            method: "POST",
          }),
      ),
    );
    const done = answers.filter(({ status }) => status === 200);
    assertEquals(done.length, 1);
    for (const answer of answers) {
      if (answer !== done[0]) assertEquals(codeOf(answer), "conflict");
    }
  }
});

Deno.test("writes to one product are applied in the order of their answers", async () => {
  await using service = await bootReplicas(server, [API, API]);
  assertEquals((await service.apps[0].upload(product("A"))).status, 200);
  const set = (i: number) =>
    service.apps[i % 2].call(`/seller_api/products/A/attribute/quantity/${i}`, {
      method: "PUT",
    });
  for (let i = 1; i <= 20; i++) {
    assertEquals((await set(i)).status, 204);
    const { quantity } = await service.row<{ quantity: number }>(
      "SELECT quantity FROM products",
    );
    assertEquals(quantity, i);
  }
  // A rule between two fields holds although each process changes only one of
  // them.
  const price = (app: number, field: string, value: number) =>
    service.apps[app].call(
      `/seller_api/products/A/attribute/${field}/${value}`,
      { method: "PUT" },
    );
  for (let round = 0; round < 20; round++) {
    await price(0, "compare_at_price", 300);
    await Promise.all([
      price(0, "price", 250 + round),
      price(1, "compare_at_price", 200),
    ]);
    const stored = await service.row<{ price: string; compared: string }>(
      "SELECT price, compare_at_price AS compared FROM products",
    );
    assert(
      Number(stored.compared) >= Number(stored.price),
      JSON.stringify(stored),
    );
    await price(0, "price", 100);
  }
});

Deno.test("an event is accepted once, whichever process is asked", async () => {
  await using sink = new WebhookSink();
  await using service = await bootReplicas(server, [
    API,
    API,
    { roles: ["webhooks"] },
    { roles: ["webhooks"] },
  ]);
  const [first] = service.apps;
  const registered = await first.call("/seller_api/webhooks", {
    method: "POST",
    body: `<webhook><trigger>order_created</trigger>` +
      `<url>${sink.url()}</url></webhook>`,
  });
  assertEquals(registered.status, 200, registered.text);
  const ids = await Promise.all(
    times(60, async (i) => {
      const answer = await service.apps[i % 2].call("/operator_api/events", {
        ...OPERATOR,
        body: `<event><seller>acme</seller><trigger>order_created</trigger>` +
          `<reference>order-${Math.floor(i / 6)}</reference></event>`,
      });
      assertEquals(answer.status, 200, answer.text);
      return textAt(answer.xml, "event_id");
    }),
  );
  const events = new Set(ids);
  assertEquals(events.size, 10);
  await until(async () => {
    const { n } = await service.row<{ n: number }>(
      "SELECT COUNT(*) AS n FROM deliveries WHERE state = 'delivered'",
    );
    return n === 10;
  }, "ten deliveries");
  const sent = sink.received.map(({ headers }) => headers.get("webhook-id"));
  assertEquals(sent.sort(), [...events].sort(), "each was sent once");
});

Deno.test("the last image makes an upload final, whichever process fetched it", async () => {
  await using images = new ImageHost();
  await using service = await bootReplicas(server, [
    API,
    { roles: ["images"] },
    { roles: ["images"] },
  ]);
  const [api] = service.apps;
  const uploads = await Promise.all(
    times(8, (i) =>
      api.upload(
        times(10, (n) =>
          product(
            `A-${i}-${n}`,
            `<images>${
              times(
                3,
                (m) => `<image>${images.url}/good/${i}-${n}-${m}.png</image>`,
              )
                .join("")
            }</images>`,
          )).join(""),
      )),
  );
  for (const uploaded of uploads) {
    const record = await api.status(uploaded, "?wait=30");
    assertEquals(textAt(record, "status"), "completed");
    assertEquals(textAt(record, "images/stored"), "30");
  }
  for (const uploaded of uploads) assertEquals(uploaded.status, 200);
  for (let i = 0; i < 8; i++) {
    for (let n = 0; n < 10; n++) {
      assertEquals(images.count(`/good/${i}-${n}-0.png`), 1, "fetched once");
    }
  }
});

Deno.test("two processes can ask for the same new URLs at once", async () => {
  await using images = new ImageHost();
  await using service = await bootReplicas(server, [
    API,
    API,
    { roles: ["images"] },
  ]);
  const [first] = service.apps;
  const keys = await Promise.all(times(6, (i) => first.addSeller(`s${i}`)));
  const urls = (i: number) => {
    const list = times(
      10,
      (n) => `<image>${images.url}/good/${n}.png</image>`,
    );
    return `<images>${
      (i % 2 === 0 ? list : list.toReversed()).join("")
    }</images>`;
  };
  const answers = await Promise.all(
    keys.map((key, i) =>
      service.apps[i % 2].call("/seller_api/bulk_products?v=1.1", {
        method: "POST",
        key,
        body: `<products>${product("A", urls(i))}</products>`,
      })
    ),
  );
  assertEquals(answers.map(({ status }) => status), Array(6).fill(200));
  await until(async () => {
    const { n } = await service.row<{ n: number }>(
      "SELECT COUNT(*) AS n FROM transactions WHERE finished_at IS NULL",
    );
    return n === 0;
  }, "every upload final");
  const { n } = await service.row<{ n: number }>(
    "SELECT COUNT(*) AS n FROM images WHERE state = 'stored'",
  );
  assertEquals(n, 60);
});

Deno.test("sellers that send the same new images at once all succeed", async () => {
  await using service = await bootReplicas(server, [API, API, API]);
  await using host = new ImageHost();
  const keys = await Promise.all(
    times(9, (i) => service.apps[0].addSeller(`s${i}`)),
  );
  const random = new Random(1);
  const asked = new Set<string>();
  for (let round = 0; round < 4; round++) {
    const answers = await Promise.all(keys.map((key, i) => {
      const some = times(30, (n) => n).filter(() => random.below(2) === 0);
      const products = some.map((n) => {
        const url = `${host.url}/good/${round}-${n}.png`;
        asked.add(`${key} ${url}`);
        return product(
          `A-${round}-${n}`,
          `<images><image>${url}</image></images>`,
        );
      });
      return service.apps[i % 3].call("/seller_api/bulk_products", {
        method: "POST",
        key,
        body: `<products>${products.join("")}</products>`,
      });
    }));
    assertEquals(answers.map(({ status }) => status), Array(9).fill(200));
  }
  const { images } = await service.row<{ images: number }>(
    "SELECT COUNT(*) AS images FROM images",
  );
  assertEquals(images, asked.size);
  const { deadlocks } = await service.row<{ deadlocks: number }>(
    "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
  );
  assertEquals(deadlocks, 0);
});

/** Sends an event; `number` is its reference. */
async function handIn(app: TestApp, number: number | string) {
  const answer = await app.call("/operator_api/events", {
    ...OPERATOR,
    body: "<event><seller>acme</seller><trigger>order_created</trigger>" +
      `<reference>${number}</reference></event>`,
  });
  assertEquals(answer.status, 200, answer.text);
  return textAt(answer.xml, "event_id");
}

async function pullEvents(app: TestApp, after: string, query = "") {
  const path = `/seller_api/events?after=${after}&limit=250${query}`;
  const { status, text, xml } = await app.call(path);
  assertEquals(status, 200, text);
  const [events, next] = xml.children;
  return {
    ids: events.children.map((event) => textAt(event, "id")),
    next: next.text,
  };
}

/**
 * Another process of a service. From `hold` on, its commits wait until the
 * result is disposed of, also if the test fails: otherwise the process could
 * not end, and would hide why.
 */
async function bootHeld({ apps: [app] }: Replicas) {
  let held: Promise<void> | undefined;
  const hold = (): Disposable => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    return {
      [Symbol.dispose]: () => {
        held = undefined;
        resolve();
      },
    };
  };
  const slow = await boot({
    config: { ...app.config },
    seller: { id: app.sellerId, key: app.key },
    deps: { beforeCommit: () => held },
  });
  return { slow, hold };
}

/** Waits until a numbering waits for the lock of another one. */
function untilNumberingWaits(service: Replicas): Promise<void> {
  return until(async () => {
    const { n } = await service.row<{ n: number }>(
      `SELECT COUNT(*) AS n FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'
         AND query LIKE '%FOR NO KEY UPDATE%'`,
    );
    return n > 0;
  }, "a numbering that waits");
}

Deno.test("an event whose commit is slow delays no other event, and is listed after it", async () => {
  await using service = await bootReplicas(server, [API, API]);
  const [, second] = service.apps;
  const { slow, hold } = await bootHeld(service);
  await using _slow = slow;
  using held = hold();
  const early = handIn(slow, "early");
  await until(() => service.hasWritten("events"));
  const late = await handIn(second, "late");
  const before = await pullEvents(second, "0");
  assertEquals(before.ids, [late]);
  held[Symbol.dispose]();
  const id = await early;
  assertEquals((await pullEvents(second, before.next)).ids, [id]);
});

Deno.test("two processes give different events different numbers", async () => {
  await using service = await bootReplicas(server, [API, API]);
  const [first, second] = service.apps;
  const { slow, hold } = await bootHeld(service);
  await using _slow = slow;
  const one = await handIn(first, "one");
  using held = hold();
  const slowly = pullEvents(slow, "0");
  await until(() => service.hasWritten("seller_counters"));
  const two = await handIn(first, "two");
  const behind = pullEvents(second, "0");
  await untilNumberingWaits(service);
  held[Symbol.dispose]();
  await slowly;
  assertEquals((await behind).ids, [one, two]);
  assertEquals((await pullEvents(first, "1")).ids, [two]);
});

Deno.test("a seller that pulls events misses none while many processes add them", async () => {
  const random = new Random(1);
  const pause = () =>
    new Promise<void>((resolve) => setTimeout(resolve, random.below(5)));
  await using service = await bootReplicas(server, [API, API, API], {
    deps: { beforeCommit: pause },
  });
  const [reader] = service.apps;
  const seen: string[] = [];
  let next = "0";
  let hasEnded = false;
  const follow = async (query = "") => {
    const page = await pullEvents(reader, next, query);
    seen.push(...page.ids);
    next = page.next;
  };
  const following = (async () => {
    while (!hasEnded) await follow("&wait=1");
  })();
  const ids = await Promise.all(
    times(150, (i) => handIn(service.apps[i % 3], i)),
  );
  hasEnded = true;
  await following;
  await follow();
  assertEquals(seen.toSorted(), ids.toSorted());
});
