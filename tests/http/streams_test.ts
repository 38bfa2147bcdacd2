/** Streamed answers for a key are complete, or visibly broken. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { boot, product, type TestApp, textAt } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { bothEngines } from "../support/engine.ts";

/** More than the buffers of a connection hold. */
const REFUSED = Array.from(
  { length: 45 },
  (_, n) =>
    `<product><sku>R-${n}</sku><title>${"t".repeat(300_000)}</title></product>`,
);

/** Paths whose answers are streamed. */
const STREAMS: Readonly<Record<string, (app: TestApp) => Promise<string>>> = {
  "the refused products of an import": async (app) => {
    const begun = await app.call(
      "/seller_api/imports?v=1.1&accept=valid&dry_run=true",
      {
        method: "POST",
        body: `<products>${product("A")}${REFUSED.join("")}</products>`,
      },
    );
    assertEquals(begun.status, 200, begun.text);
    const path = `/seller_api/imports/${textAt(begun.xml, "import_id")}`;
    await app.call(`${path}?wait=30`);
    return `${path}/refused`;
  },
  "the refused products of an upload": async (app) => {
    const products = product("B") + REFUSED.join("");
    const uploaded = await app.upload(products, "&accept=valid");
    assertEquals(uploaded.status, 200, uploaded.text);
    const id = textAt(uploaded.xml, "transaction_id");
    return `/seller_api/bulk_products/${id}/refused`;
  },
};

/** An answer of which only the beginning was read. */
async function begin(app: TestApp, path: string): Promise<Response> {
  const headers = { "X-Service-Auth": app.key };
  const response = await fetch(app.url + path, { headers });
  assertEquals(response.status, 200);
  return response;
}

const isSent = (app: TestApp) => () =>
  app.app.holders.inUse()["answers.bodies"] === undefined;

for (const [what, prepare] of Object.entries(STREAMS)) {
  bothEngines.test(`${what} arrive whole and are streamed`, async () => {
    await using app = await boot();
    const path = await prepare(app);
    const response = await begin(app, path);
    assertEquals(isSent(app)(), false);
    const text = await response.text();
    assert(text.endsWith("</products>\n"));
    for (const one of REFUSED) assert(text.includes(one));
    await until(isSent(app), "its end");
  });

  for (
    const [how, end] of Object.entries({
      "the key is revoked": (app: TestApp) =>
        app.app.db.write((tx) =>
          tx.run("UPDATE api_keys SET revoked_at = ?", [Date.now()], "any")
        ),
      "the seller is suspended": (app: TestApp) =>
        app.app.db.write((tx) =>
          tx.run("UPDATE sellers SET status = 'suspended'", [], "any")
        ),
      "the key has expired": (app: TestApp) =>
        app.app.db.write((tx) =>
          tx.run("UPDATE api_keys SET expires_at = ?", [Date.now()], "any")
        ),
    })
  ) {
    Deno.test(`${what} break off when ${how}`, async () => {
      await using app = await boot();
      const response = await begin(app, await prepare(app));
      await end(app);
      await until(isSent(app), "its end");
      await assertRejects(() => response.arrayBuffer());
    });
  }
}

bothEngines.test("the stream of refused products breaks off if their import is deleted meanwhile", async () => {
  await using app = await boot();
  const path = await STREAMS["the refused products of an import"](app);
  const response = await begin(app, path);
  const deleted = await app.call(path.replace("/refused", ""), {
    method: "DELETE",
  });
  assertEquals(deleted.status, 200, deleted.text);
  await assertRejects(() => response.arrayBuffer());
  await until(isSent(app), "its end");
});
