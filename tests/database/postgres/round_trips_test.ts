/** How often a write waits for the server. */
import { assertEquals } from "@std/assert";
import {
  boot,
  child,
  product,
  type TestApp,
  textAt,
} from "../../support/app.ts";
import { until } from "../../support/clock.ts";
import { ImageHost } from "../../support/image_host.ts";
import { ownServer } from "../../support/postgres.ts";
import { RoundTrips } from "../../support/round_trips.ts";
import { WebhookSink } from "../../support/webhook_sink.ts";

const server = await ownServer();

Deno.test("round trips of an upload, an attribute update, a claim of images and a delivery", async () => {
  await using host = new ImageHost();
  await using sink = new WebhookSink();
  await using trips = new RoundTrips(server.port);
  const databaseUrl = trips.urlOf(await server.database());
  await using app: TestApp = await boot({
    config: { databaseUrl, operatorKey: "op", roles: ["api", "webhooks"] },
  });
  const count = (...texts: string[]) => trips.find(...texts).roundTrips;

  // The reads for the decision; all its writes; the commit.
  await app.upload(product("A") + product("B"));
  assertEquals(count("INSERT INTO transactions", "INSERT INTO products"), 3);

  await app.call("/seller_api/products/A/attribute/quantity/7", {
    method: "PUT",
  });
  assertEquals(count("UPDATE products SET change_no"), 3);

  const products = (more = "") =>
    Array.from({ length: 20 }, (_, n) => product(`D-${n}`, more)).join("");
  await app.upload(products());
  await app.upload(products("<brand>x</brand>"));
  // The reads for the decision; all its writes; the commit.
  assertEquals(
    trips.find("UPDATE products SET change_no", "brand = ").groups,
    3,
  );

  const images = `<images><image>${host.url}/good/a.png</image></images>`;
  await app.upload(product("C", images));
  assertEquals(count("INSERT INTO transaction_images"), 3);

  await app.call("/seller_api/webhooks", {
    method: "POST",
    body: `<webhook><trigger>order_created</trigger>` +
      `<url>${sink.url()}</url></webhook>`,
  });
  await app.call("/operator_api/events", {
    method: "POST",
    key: "op",
    body: "<event><seller>acme</seller><trigger>order_created</trigger>" +
      "<reference>1</reference></event>",
  });
  await until(() =>
    trips.seen.some(({ sent }) => sent.includes("last_answer"))
  );
  await until(() => sink.received.length > 0);
  // The reads for the decision; all its writes; the commit.
  await until(() => count("UPDATE delivery_attempts SET") >= 3);
  // The claim, the payload, the commit.
  assertEquals(count("UPDATE deliveries SET due_at = NULL"), 3);
  assertEquals(count("UPDATE delivery_attempts SET"), 3);

  await using _worker = await boot({
    config: { ...app.config, databaseUrl, roles: ["images"] },
    seller: { id: app.sellerId, key: app.key },
  });
  await until(() =>
    trips.seen.some(({ sent }) =>
      sent.includes("UPDATE images SET due_at = NULL")
    )
  );
  await until(() => host.count("/good/a.png") > 0);
  assertEquals(count("UPDATE images SET due_at = NULL"), 2);
});

Deno.test("events of one seller that come at once take one round trip", async () => {
  await using sink = new WebhookSink();
  await using trips = new RoundTrips(server.port);
  const databaseUrl = trips.urlOf(await server.database());
  await using app: TestApp = await boot({
    config: { databaseUrl, operatorKey: "op", roles: ["api"] },
  });
  await app.call("/seller_api/webhooks", {
    method: "POST",
    body: `<webhook><trigger>order_created</trigger>` +
      `<url>${sink.url()}</url></webhook>`,
  });
  const from = trips.seen.length;
  const handIn = async (reference: string) => {
    const { xml } = await app.call("/operator_api/events", {
      method: "POST",
      key: "op",
      body: "<event><seller>acme</seller><trigger>order_created</trigger>" +
        `<reference>${reference}</reference></event>`,
    });
    return textAt(xml, "event_id");
  };
  const references = Array.from({ length: 19 }, (_, n) => `order-${n}`);
  const ids = await Promise.all(references.map(handIn));
  assertEquals(new Set(ids).size, 19);
  // The service also has other transactions.
  const most = trips.seen.slice(from)
    .filter(({ sent }) => sent.includes("order-"))
    .reduce((most, { roundTrips }) => Math.max(most, roundTrips), 0);
  assertEquals(most, 1);
  assertEquals(await handIn("order-0"), ids[0]);
  const feed = await app.call("/seller_api/events?limit=100");
  assertEquals(child(feed.xml, "events").children.length, 19);
});
