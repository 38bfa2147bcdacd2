import { assertEquals } from "@std/assert";
import { boot, child, type TestApp, textAt } from "../support/app.ts";
import { TestClock, until } from "../support/clock.ts";
import { bothEngines } from "../support/engine.ts";
import { ImageHost } from "../support/image_host.ts";
import { contract } from "../support/forms.ts";

function product(url: string): string {
  return `<product><sku>A</sku><title>t</title><price currency="SEK">1</price>` +
    `<quantity>1</quantity><images><image>${url}</image></images></product>`;
}

/** Uploads a product whose only image fails; returns the transaction's id. */
async function failedUpload(app: TestApp, url: string): Promise<string> {
  const uploaded = await app.upload(product(url));
  const status = await app.status(uploaded, "?wait=10");
  assertEquals(textAt(status, "status"), "completed_with_errors");
  return textAt(uploaded.xml, "transaction_id");
}

const retry = (app: TestApp, id: string, key?: string) =>
  app.call(`/seller_api/bulk_products/${id}/images/retry`, {
    method: "POST",
    ...(key !== undefined && { key }),
  });

contract.test("images/retry: failed images are fetched again", async () => {
  await using host = new ImageHost();
  await using app = await boot({ config: { roles: ["api", "images"] } });
  const path = "/missing/a.png";
  const id = await failedUpload(app, host.url + path);
  const good = await fetch(`${host.url}/good/a.png`);
  const bytes = await good.arrayBuffer();
  host.answers.set(path, () => new Response(bytes));
  const answer = await retry(app, id);
  assertEquals(answer.status, 200);
  assertEquals(textAt(answer.xml, "transaction_id"), id);
  assertEquals(textAt(child(answer.xml, "images"), "retried"), "1");
  const { xml } = await app.call(`/seller_api/bulk_products/${id}?wait=10`);
  const status = child(xml, "transaction");
  assertEquals(textAt(status, "status"), "completed");
  assertEquals(textAt(child(status, "images"), "stored"), "1");
  assertEquals(
    textAt(child((await retry(app, id)).xml, "images"), "retried"),
    "0",
  );
});

bothEngines.test("images/retry: failed images are fetched at once", async () => {
  await using host = new ImageHost();
  const clock = new TestClock(Date.now());
  const config = { roles: ["api" as const, "images" as const] };
  await using app = await boot({ config, deps: { clock } });
  const path = "/missing/a.png";
  const uploaded = await app.upload(product(host.url + path));
  const ended = () =>
    until(async () => {
      const status = textAt(await app.status(uploaded), "status");
      return status === "completed_with_errors";
    }, "the failure of the image");
  await ended();
  await retry(app, textAt(uploaded.xml, "transaction_id"));
  await until(() => host.count(path) === 2, "the second request");
  await ended();
});

contract.test("images/retry: another seller's transaction does not exist", async () => {
  await using host = new ImageHost();
  await using app = await boot({ config: { roles: ["api", "images"] } });
  const id = await failedUpload(app, `${host.url}/missing/a.png`);
  const other = await app.addSeller("other");
  assertEquals((await retry(app, id, other)).status, 404);
  assertEquals((await retry(app, "none")).status, 404);
});
