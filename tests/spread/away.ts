/**
 * One of several servers is unreachable: its sellers wait for it, others do
 * not, and the operator gets a notice. The test simulates a machine that fails
 * and comes back.
 */
import { assert, assertEquals } from "@std/assert";
import { until } from "../support/clock.ts";
import {
  type Answer,
  boot,
  child,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";
import { ImageHost } from "../support/image_host.ts";
import { parseMetrics } from "../support/metrics.ts";
import { WebhookSink } from "../support/webhook_sink.ts";
import { CitusCluster } from "../processes/citus_cluster.ts";

const OPERATOR = "op";
const SELLERS = 8;

interface TestSeller {
  name: string;
  key: string;
  /** The port of the seller's server. */
  port: string;
}

/** Adds sellers until every server has one. */
async function addSellers(app: TestApp): Promise<TestSeller[]> {
  const sellers: TestSeller[] = [];
  for (let n = 0; n < SELLERS; n++) {
    const name = `seller-${n}`;
    const key = await app.addSeller(name);
    const answer = await operate(app, `/database?seller=${name}`);
    const [server] = child(child(answer.xml, "database"), "servers").children;
    sellers.push({ name, key, port: textAt(server, "name").split(":")[1] });
  }
  return sellers;
}

function operate(
  app: TestApp,
  path: string,
  call: { method?: string; body?: string } = {},
): Promise<Answer> {
  return app.call(`/operator_api${path}`, { key: OPERATOR, ...call });
}

/** The number of a node by its port. */
async function nodeAt(cluster: CitusCluster, port: string): Promise<number> {
  for (const node of await cluster.workers()) {
    if (new URL(await cluster.url(node, "seller")).port === port) return node;
  }
  throw new Error(`no worker at ${port}`);
}

const cluster = CitusCluster.given();

if (cluster !== null) {
  bothEngines.test("an unreachable server: its sellers wait, the operator gets a notice, and work continues", async () => {
    await using host = new ImageHost();
    await using sink = new WebhookSink();
    await using app = await boot({
      config: { operatorKey: OPERATOR, roles: ["api", "images", "webhooks"] },
    });
    const sellers = await addSellers(app);
    const { port } = sellers[0];
    const lost = sellers.filter((seller) => seller.port === port);
    const others = sellers.filter((seller) => seller.port !== port);
    assert(others.length > 0, "all sellers are on one server");
    const upload = ({ key }: TestSeller, sku: string) =>
      app.call("/seller_api/bulk_products?v=1.1", {
        method: "POST",
        key,
        body: `<products>${
          product(
            sku,
            `<images><image>${host.url}/good/${sku}.png</image></images>`,
          )
        }</products>`,
      });
    for (const seller of sellers) {
      assertEquals((await upload(seller, "before")).status, 200);
      await app.call("/seller_api/webhooks", {
        method: "POST",
        key: seller.key,
        body:
          `<webhook><trigger>order_created</trigger><url>${sink.url()}</url></webhook>`,
      });
      await app.call("/seller_api/none", { key: seller.key });
    }
    const emit = ({ name }: TestSeller, reference: string) =>
      operate(app, "/events", {
        method: "POST",
        body:
          `<event><seller>${name}</seller><trigger>order_created</trigger>` +
          `<reference>${reference}</reference><data><order/></data></event>`,
      });
    const node = await nodeAt(cluster, port);
    await cluster.run("kill", `${node}`);
    try {
      const since = performance.now();
      await until(async () => {
        const answer = await upload(lost[0], "away");
        return answer.status === 503 && answer.headers.has("retry-after");
      }, "503");
      assert(performance.now() - since < 5_000, "503 within 5 s");
      await until(async () => {
        const { xml } = await operate(app, "/database");
        return child(child(xml, "database"), "servers").children
          .some((server) => textAt(server, "state") === "away");
      }, "away");
      for (const seller of others) {
        const answer = await upload(seller, "away");
        assertEquals(answer.status, 200, answer.text);
        assertEquals((await emit(seller, "away")).status, 200);
      }
      const ready = await app.call("/readyz", { key: OPERATOR });
      assertEquals(ready.status, 200, ready.text);
      assertEquals(textAt(ready.xml, "checks/database"), "partly");
      const metrics = await app.call("/metrics", {
        key: null,
        headers: { Authorization: `Bearer ${OPERATOR}` },
      });
      const series = parseMetrics(metrics.text);
      const count = (state: string) =>
        series.get(`seller_database_servers{state="${state}"}`);
      assertEquals([count("up"), count("away")], [1, 1]);
      for (const path of ["/refusals", "/reviews", "/sellers", "/status"]) {
        const list = await operate(app, path);
        assertEquals(list.status, 200, list.text);
        const [missing] = child(list.xml, "partial").children;
        assert(missing.text.endsWith(`:${port}`), list.text);
      }
      const listed = await operate(app, "/refusals");
      assert(!listed.text.includes(`<seller>${lost[0].name}<`), listed.text);
      assert(listed.text.includes(`<seller>${others[0].name}<`), listed.text);
      assertEquals((await operate(app, "/products?limit=5")).status, 200);
      for (
        const [path, body] of [
          ["/sellers", "<seller><name>late</name></seller>"],
          [`/sellers/${others[0].name}/keys`, "<key><label>x</label></key>"],
          // The product may be stored although the answer was an error.
          [
            "/reviews",
            `<reviews><review><product>${crypto.randomUUID()}</product>` +
            "<decision>approved</decision></review></reviews>",
          ],
        ]
      ) {
        const refused = await operate(app, path, { method: "POST", body });
        assertEquals(refused.status, 503, refused.text);
        assert(refused.headers.has("retry-after"));
      }
      // Images and deliveries of the other sellers do not wait for it.
      await until(
        () => sink.received.length === others.length,
        "deliveries of the others",
      );
    } finally {
      await cluster.run("up", `${node}`);
    }
    for (const seller of lost) {
      await until(
        async () => (await upload(seller, "after")).status === 200,
        "its sellers",
      );
      assertEquals((await emit(seller, "after")).status, 200);
    }
    await until(() => sink.received.length === sellers.length, "deliveries");
    const statusOf = async ({ key }: TestSeller) => {
      const { xml } = await app.call("/seller_api/bulk_products", { key });
      return child(xml, "transactions").children
        .map((one) => textAt(one, "status"));
    };
    for (const seller of sellers) {
      await until(
        async () =>
          (await statusOf(seller)).every((status) => status === "completed"),
        `the images of ${seller.name}`,
      );
    }
    const after = await operate(app, "/refusals");
    assert(!after.text.includes("<partial>"), after.text);
    assertEquals(
      (await operate(app, "/sellers", {
        method: "POST",
        body: "<seller><name>late</name></seller>",
      })).status,
      200,
    );
  });
}
