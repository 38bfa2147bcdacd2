/** `GET /operator_api/products`, `…/sellers`, `…/status`. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { systemClock, systemIds } from "../../src/deps.ts";
import { refetchCopies } from "../../src/images/rows/copies.ts";
import {
  boot,
  type BootOptions,
  child,
  codeOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { until } from "../support/clock.ts";
import { ImageHost } from "../support/image_host.ts";
import { nextOf, readAll, valueOf } from "../support/read_out.ts";
import { contract } from "../support/forms.ts";

const FEED = "/operator_api/products";
const OPERATOR: BootOptions = { config: { operatorKey: "op" } };
const WITH_IMAGES: BootOptions = {
  config: { operatorKey: "op", roles: ["api", "images"] },
};

/** A client that follows the feed and keeps its cursor. */
class Follower {
  readonly #app: TestApp;
  last: string | null = null;

  constructor(app: TestApp) {
    this.#app = app;
  }

  /**
   * SKUs changed since the last call; the page size is small, so that there are
   * several pages.
   */
  async changes(limit = 2): Promise<string[]> {
    const entries = await this.entries(limit);
    return entries.map((entry) => textAt(entry, "sku"));
  }

  async entries(limit = 2) {
    const path = `${FEED}?limit=${limit}`;
    const { entries, last } = await readAll(this.#app, path, "products", {
      after: this.last,
      key: "op",
    });
    this.last = last;
    return entries;
  }
}

function withImages(sku: string, ...urls: string[]): string {
  const images = urls.map((url) => `<image>${url}</image>`).join("");
  return product(sku, `<images>${images}</images>`);
}

function upload(app: TestApp, ...products: string[]) {
  return app.upload(products.join("")).then((answer) =>
    app.status(answer, "?wait=10")
  );
}

contract.test("the feed shows every product of every seller, then each change, once", async () => {
  await using app = await boot(OPERATOR);
  const follower = new Follower(app);
  assertEquals(await follower.changes(), []);
  await upload(app, product("A"));
  await upload(app, product("B"));
  const other = await app.addSeller("other");
  await app.call("/seller_api/bulk_products", {
    method: "POST",
    key: other,
    body: `<products>${product("A")}</products>`,
  });
  const all = await follower.entries();
  assertEquals(
    all.map((one) => `${valueOf(one, "@seller")} ${textAt(one, "sku")}`),
    ["acme A", "acme B", "other A"],
  );
  assertEquals(await follower.changes(), []);

  await upload(app, product("A"), product("B"));
  assertEquals(await follower.changes(), [], "nothing changed");
  await upload(app, product("B", "<brand>x</brand>"), product("A"));
  assertEquals(await follower.changes(), ["B"]);
  const put = (path: string) =>
    app.call(`/seller_api/products/${path}`, { method: "PUT" });
  await put("A/attribute/sku/C");
  await put("B/attribute/quantity/5");
  await put("C/attribute/title/t");
  await put("C/attribute/title/u");
  assertEquals(await follower.changes(), ["C"]);
});

contract.test("a rename changes no position in the feed; every entry has its seller's id", async () => {
  await using app = await boot(OPERATOR);
  const rename = async (name: string) => {
    const path = `/operator_api/sellers/${app.sellerId}/attribute/name/${name}`;
    const answer = await app.call(path, { method: "PUT", key: "op" });
    assertEquals(answer.status, 204);
  };
  const follower = new Follower(app);
  const owners = async () =>
    (await follower.entries()).map((one) => [
      textAt(one, "sku"),
      valueOf(one, "@seller"),
      valueOf(one, "@seller_id"),
    ]);
  const id = app.sellerId;
  await upload(app, product("A"), product("B"));
  assertEquals(await owners(), [["A", "acme", id], ["B", "acme", id]]);
  await rename("renamed");
  assertEquals(await owners(), []);
  // The former name of one seller is now the name of another.
  await app.call("/seller_api/bulk_products", {
    method: "POST",
    key: await app.addSeller("acme"),
    body: `<products>${product("A")}</products>`,
  });
  const [[sku, name, other]] = await owners();
  assertEquals([sku, name], ["A", "acme"]);
  assert(other !== id);
  await app.call("/seller_api/products/B", { method: "DELETE" });
  assertEquals(await owners(), [["B", "renamed", id]]);
});

contract.test("a change puts a product at the end, and old cursors stay valid", async () => {
  await using app = await boot(OPERATOR);
  for (const sku of ["A", "B", "C"]) await upload(app, product(sku));
  const first = await app.call(`${FEED}?limit=1`, { key: "op" });
  const cursor = nextOf(first.xml)!;
  await upload(app, product("B", "<brand>x</brand>"));
  const since = (after: string) =>
    readAll(app, FEED, "products", {
      after,
      key: "op",
    });
  const skus = ({ entries }: Awaited<ReturnType<typeof readAll>>) =>
    entries.map((one) => textAt(one, "sku"));
  const later = await since(cursor);
  assertEquals(skus(later), ["C", "B"]);
  assertEquals(skus(await since(cursor)), ["C", "B"], "asked again");
  await upload(app, product("A", "<brand>x</brand>"));
  assertEquals(skus(await since(cursor)), ["C", "B", "A"]);
  assertEquals(skus(await since(later.last!)), ["A"]);
});

contract.test("images are changes: stored, failed, another version, removed", async () => {
  await using host = new ImageHost();
  await using app = await boot(WITH_IMAGES);
  const follower = new Follower(app);
  const good = `${host.url}/good/a.png`;
  await upload(app, withImages("A", good), product("B"));
  await upload(app, withImages("C", good, `${host.url}/missing/x.png`));
  const states = (await follower.entries()).map((one) =>
    [
      textAt(one, "sku"),
      ...(one.children.find(({ name }) => name === "images")?.children ?? [])
        .map((image) => valueOf(image, "@status")),
    ].join(" ")
  );
  assertEquals(states.sort(), ["A stored", "B", "C stored failed"]);

  // The same version again is no change; nor is a reused copy.
  await upload(app, withImages("A", good));
  assertEquals(await follower.changes(), []);

  // A new version of the URL's content changes all products that show it.
  const other = await (await fetch(`${host.url}/good/other.png`)).arrayBuffer();
  host.answers.set(
    "/good/a.png",
    () => new Response(other, { headers: { etag: '"2"' } }),
  );
  await upload(app, withImages("A", good));
  assertEquals((await follower.changes()).sort(), ["A", "C"]);

  await upload(app, "<product><sku>C</sku><images/></product>");
  const [removed] = await follower.entries();
  assert(!valueOf(removed, "images"));
  host.answers.delete("/good/a.png");
  await upload(app, withImages("A", good));
  assertEquals(await follower.changes(), ["A"], "C shows it no more");
});

contract.test("an image without validators that is refetched unchanged is no change", async () => {
  await using host = new ImageHost();
  await using app = await boot(WITH_IMAGES);
  const follower = new Follower(app);
  const url = `${host.url}/plain/a.png`;
  await upload(app, withImages("A", url));
  await follower.changes();
  const gets = host.count("/plain/a.png");
  await upload(app, withImages("A", url));
  assertEquals(host.count("/plain/a.png"), gets + 1);
  assertEquals(await follower.changes(), []);
});

contract.test("a follower that reads between changes misses no image", async () => {
  await using host = new ImageHost();
  await using app = await boot(WITH_IMAGES);
  const follower = new Follower(app);
  const uploaded = await app.upload(withImages("A", `${host.url}/hang/a.png`));
  const [pending] = await follower.entries();
  const image = child(pending, "images").children[0];
  assertEquals(image.attributes.status, "pending");
  host.release();
  await app.status(uploaded, "?wait=10");
  const [stored] = await follower.entries();
  assertEquals(
    child(stored, "images").children[0].attributes.status,
    "stored",
  );
  assertEquals(await follower.changes(), []);
});

contract.test("an image shown by very many products changes all of them", async () => {
  await using host = new ImageHost();
  await using app = await boot(WITH_IMAGES);
  const follower = new Follower(app);
  const url = `${host.url}/good/logo.png`;
  const total = 1_250;
  for (let start = 0; start < total; start += 250) {
    await upload(
      app,
      ...Array.from(
        { length: 250 },
        (_, i) => withImages(`S-${start + i}`, url),
      ),
    );
  }
  await follower.changes(250);
  const other = await (await fetch(`${host.url}/good/new.png`)).arrayBuffer();
  host.answers.set(
    "/good/logo.png",
    () => new Response(other, { headers: { etag: '"2"' } }),
  );
  await upload(app, withImages("S-0", url));
  const changed: string[] = [];
  await until(async () => {
    changed.push(...await follower.changes(250));
    return changed.length >= total;
  }, "the changes that one write left for later");
  assertEquals(changed.length, total);
  assertEquals(new Set(changed).size, total);
  assertEquals(await follower.changes(), []);
});

contract.test("a copy found missing is a change", async () => {
  await using host = new ImageHost();
  await using app = await boot(WITH_IMAGES);
  const follower = new Follower(app);
  await upload(app, withImages("A", `${host.url}/good/a.png`));
  const [shown] = await follower.entries();
  const { href } = child(shown, "images").children[0].attributes;
  const sha256 = href.slice(-68, -4);
  await app.app.db.write((tx) => refetchCopies(tx, [sha256], 9e15));
  const [again] = await follower.entries();
  assertEquals(
    child(again, "images").children[0].attributes.status,
    "pending",
  );
});

contract.test("the operator's lists need the operator's key", async () => {
  await using app = await boot(OPERATOR);
  for (const path of [FEED, "/operator_api/sellers", "/operator_api/status"]) {
    assertEquals((await app.call(path, { key: "op" })).status, 200);
    const wrong = await app.call(path);
    assertEquals([wrong.status, codeOf(wrong)], [401, "unauthorized"]);
    const none = await app.call(path, { key: null });
    assertEquals(none.status, 401);
  }
});

contract.test("sellers are listed with keys, webhooks and their last upload", async () => {
  await using app = await boot(OPERATOR);
  await app.addSeller("other");
  await upload(app, product("A"));
  const { entries, pages } = await readAll(
    app,
    "/operator_api/sellers?limit=1",
    "sellers",
    { key: "op" },
  );
  assertEquals(pages, 2);
  const [acme, other] = ["acme", "other"].map((name) =>
    entries.find((one) => textAt(one, "name") === name)!
  );
  assertEquals(textAt(acme, "keys"), "1");
  assertEquals(textAt(acme, "webhooks"), "0");
  assertEquals(textAt(acme, "failing_webhooks"), "0");
  assertMatch(textAt(acme, "last_upload_at"), /^\d{4}-.*Z$/);
  assertEquals(textAt(other, "last_upload_at"), "");
});

contract.test("the status has waiting work, failures and the counts of the last day", async () => {
  let now = Date.parse("2026-11-20T08:30:00Z");
  await using host = new ImageHost();
  await using app = await boot({
    ...OPERATOR,
    deps: { clock: { ...systemClock, now: () => now } },
  });
  const url = `${host.url}/good/a.png`;
  await app.upload(withImages("A", url) + withImages("B", `${url}?2`));
  now += 3_600_000;
  await app.upload(product("C"));
  await app.upload(product("D"));
  await app.app.db.write((tx) =>
    tx.run(
      `INSERT INTO webhooks (id, seller_no, trigger_name, url, failures,
         failing_since, created_at, updated_at)
       VALUES (?, 1, 'order_paid', 'https://x.example/', 3, ?, 0, 0)`,
      [systemIds.uuid(), now],
      "any",
    )
  );
  const status = (await app.call("/operator_api/status", { key: "op" })).xml;
  assertEquals(textAt(status, "backlog/images"), "2");
  assertEquals(textAt(status, "backlog/deliveries"), "0");
  const [failing] = child(status, "failing_webhooks").children;
  assertEquals(
    ["seller", "trigger", "url", "failures", "failing_since"]
      .map((name) => textAt(failing, name)),
    [
      "acme",
      "order_paid",
      "https://x.example/",
      "3",
      "2026-11-20T09:30:00.000Z",
    ],
  );
  const hours = child(status, "hours").children;
  assertEquals(hours.length, 24);
  assertEquals(
    hours.slice(-2).map((hour) => [
      hour.attributes.from,
      ...hour.children.map(({ name, text }) => `${name} ${text}`),
    ]),
    [["2026-11-20T08:00:00.000Z", "1"], ["2026-11-20T09:00:00.000Z", "2"]].map(
      ([from, uploads]) => [
        from,
        `uploads ${uploads}`,
        "images_stored 0",
        "images_failed 0",
        "deliveries_delivered 0",
        "deliveries_failed 0",
      ],
    ),
  );
});

contract.test("image results are counted in the hour", async () => {
  await using host = new ImageHost();
  await using app = await boot(WITH_IMAGES);
  await upload(
    app,
    withImages(
      "A",
      ...["good/a.png", "good/b.png", "missing/c.png"]
        .map((path) => `${host.url}/${path}`),
    ),
  );
  const status = (await app.call("/operator_api/status", { key: "op" })).xml;
  const sum = (name: string) =>
    child(status, "hours").children
      .reduce((total, hour) => total + Number(textAt(hour, name)), 0);
  assertEquals([sum("images_stored"), sum("images_failed")], [2, 1]);
  assert(textAt(status, "backlog/images") === "0");
});
