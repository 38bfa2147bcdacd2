/**
 * Changes that operators make over HTTP, with which keys, and the audit log of
 * them.
 */
import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
} from "@std/assert";
import {
  addOperatorKey,
  revokeOperatorKey,
} from "../../src/sellers/operator_keys.ts";
import { systemDeps } from "../../src/deps.ts";
import {
  type Answer,
  boot,
  child,
  codeOf,
  detailsOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { TestClock, until } from "../support/clock.ts";
import { contract } from "../support/forms.ts";

const API = "/operator_api";
const OPERATOR = { config: { operatorKey: "op" } };
const deps = systemDeps("error");

/** A request with the operator's key; a body makes it a POST. */
function operate(
  app: TestApp,
  path: string,
  { method, body, key = "op" }: {
    method?: string;
    body?: string;
    key?: string;
  } = {},
): Promise<Answer> {
  return app.call(`${API}/${path}`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    body,
    key,
  });
}

function set(app: TestApp, path: string, key = "op"): Promise<Answer> {
  return operate(app, `sellers/${path}`, { method: "PUT", key });
}

function sellerNamed(answer: Answer, name: string) {
  const { children } = child(answer.xml, "sellers");
  return children.find((seller) => textAt(seller, "name") === name);
}

/** Entries of the audit log, the newest first. */
async function audit(app: TestApp): Promise<string[]> {
  const answer = await operate(app, "audit");
  return child(answer.xml, "audit").children.map((entry) =>
    ["who", "action", "seller", "detail"]
      .map((name) => textAt(entry, name)).join(" | ")
  );
}

contract.test("operator: a seller is created with a key that works at once", async () => {
  await using app = await boot(OPERATOR);
  const body = "<seller><name>Åsa &amp; Søn</name></seller>";
  const created = await operate(app, "sellers", { body });
  assertEquals(created.status, 200, created.text);
  assertEquals(textAt(created.xml, "seller/name"), "Åsa & Søn");
  assertMatch(textAt(created.xml, "seller/webhook_secret"), /^whsec_/);
  const key = textAt(created.xml, "seller/api_key");
  assertEquals((await app.call("/seller_api/products", { key })).status, 200);
  const again = await operate(app, "sellers", { body });
  assertEquals(again.status, 422);
  assertEquals(detailsOf(again).map(({ code }) => code), ["name_taken"]);
  assertEquals(await audit(app), [
    `environment | seller add | Åsa & Søn | key ${
      textAt(created.xml, "seller/key_id")
    }`,
  ]);
});

const UUID = "0d5f5a0e-8a5c-4b5e-9a0e-0d5f5a0e8a5c";

contract.test("operator: a seller needs a valid name", async () => {
  await using app = await boot(OPERATOR);
  for (
    const [body, code] of [
      ["<seller/>", "required"],
      ["<seller><name> </name></seller>", "required"],
      ["<seller><name>a\nb</name></seller>", "not_allowed"],
      [`<seller><name>${UUID}</name></seller>`, "not_allowed"],
      ["<seller><nam>a</nam></seller>", "unknown_element"],
      ["<shop><name>a</name></shop>", "unknown_element"],
    ]
  ) {
    const answer = await operate(app, "sellers", { body });
    assertEquals(answer.status, 422, answer.text);
    assertEquals(detailsOf(answer)[0].code, code, body);
  }
  assertEquals(await audit(app), []);
});

contract.test("operator: attributes are set by name or id, and read back", async () => {
  await using app = await boot(OPERATOR);
  for (
    const path of [
      "acme/attribute/product_limit/1",
      `${app.sellerId}/attribute/image_quota/0`,
      "acme/attribute/rate_limit/30",
      "acme/attribute/name/b%20%2F%20c",
    ]
  ) assertEquals((await set(app, path)).status, 204, path);
  const seller = sellerNamed(await operate(app, "sellers"), "b / c")!;
  const shown = (name: string) => textAt(seller, name);
  assertEquals(
    ["status", "product_limit", "image_quota", "rate_limit"].map(shown),
    ["active", "1", "0", "30"],
  );
  assertEquals((await app.upload(product("A"))).status, 200);
  assertEquals((await app.upload(product("B"))).status, 422);
  const cleared = await set(app, `${app.sellerId}/attribute/product_limit/`);
  assertEquals(cleared.status, 204);
  assertEquals((await app.upload(product("B"))).status, 200);
  const after = sellerNamed(await operate(app, "sellers"), "b / c")!;
  assertEquals(textAt(after, "product_limit"), "");
  assertEquals(textAt(after, "products"), "2");
  assertEquals((await audit(app)).slice(0, 2), [
    "environment | seller set | b / c | product_limit = default",
    "environment | seller set | acme | name = b / c",
  ]);
});

contract.test("operator: a seller's address for notices is set and never logged", async () => {
  await using app = await boot(OPERATOR);
  const shown = async () => {
    const seller = sellerNamed(await operate(app, "sellers"), "acme")!;
    return textAt(seller, "email");
  };
  const path = "acme/attribute/email/";
  assertEquals(await shown(), "");
  const address = "o'neil+shop@acme.example";
  const encoded = encodeURIComponent(address);
  assertEquals((await set(app, path + encoded)).status, 204);
  assertEquals(await shown(), address);
  for (const wrong of ["acme", "a@b@c", "Acme <a@b.example>", "a@ö.example"]) {
    const answer = await set(app, path + encodeURIComponent(wrong));
    assertEquals(answer.status, 422, wrong);
    assertEquals(detailsOf(answer)[0].field, "email");
  }
  assertEquals(await shown(), address);
  assertEquals((await set(app, path)).status, 204);
  assertEquals(await shown(), "");
  assertEquals(await audit(app), [
    "environment | seller set | acme | email = default",
    "environment | seller set | acme | email = set",
  ]);
  assert(!JSON.stringify(app.log).includes("@"), JSON.stringify(app.log));
});

contract.test("operator: two sellers may have one address for notices", async () => {
  await using app = await boot(OPERATOR);
  await app.addSeller("globex");
  const sellers = ["acme", "globex"];
  for (const address of ["orders@example.com", "new@example.com"]) {
    for (const seller of sellers) {
      const path = `${seller}/attribute/email/${address}`;
      assertEquals((await set(app, path)).status, 204);
      const listed = sellerNamed(await operate(app, "sellers"), seller)!;
      assertEquals(textAt(listed, "email"), address);
    }
    sellers.reverse();
  }
});

contract.test("operator: a seller's rate limit replaces that of the settings", async () => {
  await using app = await boot({
    config: { operatorKey: "op", rateLimit: 600 },
  });
  const limit = async () => {
    const answer = await app.call("/seller_api/webhooks");
    return answer.headers.get("ratelimit-limit");
  };
  assertEquals(await limit(), "600");
  await set(app, "acme/attribute/rate_limit/30");
  await until(async () => await limit() === "30", "the new limit");
  await set(app, "acme/attribute/rate_limit/0");
  await until(async () => await limit() === null, "no limit");
});

contract.test("operator: an invalid change is refused, and leaves no entry", async () => {
  await using app = await boot(OPERATOR);
  await app.addSeller("other");
  for (
    const [path, status, code] of [
      ["nobody/attribute/status/suspended", 404, "not_found"],
      ["acme/attribute/status/closed", 422, "not_in_list"],
      ["acme/attribute/status/", 422, "not_in_list"],
      ["acme/attribute/name/", 422, "not_allowed"],
      ["acme/attribute/name/other", 422, "name_taken"],
      ["acme/attribute/rate_limit/-1", 422, "out_of_range"],
      ["acme/attribute/product_limit/1e3", 422, "not_a_number"],
      ["acme/attribute/image_quota/99999999999999999", 422, "out_of_range"],
      ["acme/attribute/colour/red", 422, "unknown_attribute"],
    ] as const
  ) {
    const answer = await set(app, path);
    assertEquals(answer.status, status, answer.text);
    const codes = status === 422
      ? detailsOf(answer).map((detail) => detail.code)
      : [codeOf(answer)];
    assertEquals(codes, [code], path);
  }
  assertEquals(await audit(app), []);
});

contract.test("operator keys: only a named key opens the API, and the audit log has its name", async () => {
  await using app = await boot();
  const services = { db: app.app.db, deps };
  const make = (name: string, readOnly: boolean) =>
    addOperatorKey(services, { who: "command line", name, readOnly });
  assertEquals((await operate(app, "sellers", { key: "x" })).status, 404);
  const writer = await make("ops", false);
  const reader = await make("dashboard", true);
  assertEquals((await operate(app, "sellers", { key: "x" })).status, 401);
  assertEquals((await operate(app, "sellers", { key: reader })).status, 200);
  const refused = await set(app, "acme/attribute/product_limit/5", reader);
  assertEquals([refused.status, codeOf(refused)], [403, "forbidden"]);
  const done = await set(app, "acme/attribute/product_limit/5", writer);
  assertEquals(done.status, 204);
  const log = await operate(app, "audit?limit=1", { key: reader });
  assertEquals(textAt(log.xml, "audit/entry/who"), "ops");
  const next = textAt(log.xml, "next");
  const rest = await operate(app, `audit?after=${next}`, { key: reader });
  const actions = child(rest.xml, "audit").children
    .map((entry) => textAt(entry, "detail"));
  assertEquals(actions, ["dashboard (read-only)", "ops"]);

  await revokeOperatorKey(services, { who: "command line", name: "ops" });
  await until(
    async () => (await operate(app, "sellers", { key: writer })).status === 401,
    "the end of the key",
  );
  assert(await make("ops", false) !== writer, "a name is free again");
});

contract.test("an operator key works only from its networks and until its end, for metrics, too", async () => {
  const clock = new TestClock();
  const lines: string[] = [];
  const logged = systemDeps("warn", undefined, (line) => lines.push(line));
  await using app = await boot({ deps: { clock, log: logged.log } });
  const services = { db: app.app.db, deps: { ...deps, clock } };
  const make = (name: string, network: string, expiresAt: number | null) =>
    addOperatorKey(services, {
      ...{ who: "command line", name, readOnly: false },
      networks: [network],
      expiresAt,
    });
  const here = await make("here", "127.0.0.0/8", clock.now() + 60_000);
  const away = await make("away", "192.0.2.0/28", null);
  const metrics = (key: string) =>
    app.call("/metrics", {
      key: null,
      headers: { Authorization: `Bearer ${key}` },
    });
  assertEquals((await operate(app, "sellers", { key: here })).status, 200);
  assertEquals((await metrics(here)).status, 200);
  const refused = await operate(app, "sellers", { key: away });
  assertEquals([refused.status, codeOf(refused)], [401, "unauthorized"]);
  assertEquals((await metrics(away)).status, 401);
  clock.advance(60_000);
  assertEquals((await operate(app, "sellers", { key: here })).status, 401);
  const reported = lines.filter((line) =>
    line.includes("operator_key_refused")
  );
  assertMatch(reported[0], /operator key away was sent from 127.0.0.1/);
  assertMatch(reported[2], /operator key here expired at /);
});

/** A seller's keys: label, prefix, and whether each was used and revoked. */
async function keysOf(app: TestApp, seller: string): Promise<string[][]> {
  const answer = await operate(app, `sellers/${seller}/keys`);
  assertEquals(answer.status, 200, answer.text);
  return child(answer.xml, "keys").children.map((key) =>
    ["label", "prefix", "last_used_at", "revoked_at"]
      .map((name) => textAt(key, name))
  );
}

contract.test("keys: a key is made, used, listed and revoked", async () => {
  const clock = new TestClock();
  await using app = await boot({ ...OPERATOR, deps: { clock } });
  const made = await operate(app, "sellers/acme/keys", {
    body: "<key><label>ERP</label></key>",
  });
  assertEquals(made.status, 200, made.text);
  const key = textAt(made.xml, "key/api_key");
  assertEquals((await app.call("/seller_api/webhooks", { key })).status, 200);
  clock.advance(5_000);
  const minute = new Date(Math.floor(clock.now() / 60_000) * 60_000);
  await until(
    async () => (await keysOf(app, "acme"))[1][2] === minute.toISOString(),
    "the time of the last use",
  );
  await app.addSeller("other");
  const sellers = await operate(app, "sellers");
  assertEquals(
    child(sellers.xml, "sellers").children
      .map((one) => [textAt(one, "name"), textAt(one, "last_used_at")]),
    [["acme", minute.toISOString()], ["other", ""]],
  );
  assertEquals((await keysOf(app, app.sellerId))[1].slice(0, 2), [
    "ERP",
    key.slice(0, 8),
  ]);
  const keyId = textAt(made.xml, "key/key_id");
  for (let times = 0; times < 2; times++) {
    const revoked = await operate(app, `keys/${keyId}`, { method: "DELETE" });
    assertEquals(revoked.status, 200, revoked.text);
  }
  clock.advance(1_000);
  assertEquals((await app.call("/seller_api/webhooks", { key })).status, 401);
  assertNotEquals((await keysOf(app, "acme"))[1][3], "");
  assertEquals(await audit(app), [
    `environment | key revoke | acme | key ${keyId}`,
    `environment | key add | acme | key ${keyId}, ERP`,
  ]);
});

contract.test("keys: many requests in a minute cost one write", async () => {
  const clock = new TestClock();
  let commits = 0;
  await using app = await boot({
    ...OPERATOR,
    deps: { clock, beforeCommit: () => void commits++ },
    app: { maintain: false },
  });
  commits = 0;
  for (let i = 0; i < 20; i++) await app.call("/seller_api/webhooks");
  assertEquals(commits, 0);
  clock.advance(5_000);
  await until(() => commits === 1, "the write");
  for (let i = 0; i < 20; i++) await app.call("/seller_api/webhooks");
  clock.advance(5_000);
  await app.call("/seller_api/webhooks");
  assertEquals(commits, 1);
});

contract.test("keys: an unknown key is 404, and a bad label 422", async () => {
  await using app = await boot(OPERATOR);
  const id = crypto.randomUUID();
  const key = (label: string) => `<key><label>${label}</label></key>`;
  const refused: [string, Parameters<typeof operate>[2], number][] = [
    ["sellers/nobody/keys", {}, 404],
    ["sellers/nobody/keys", { body: key("x") }, 404],
    ["sellers/nobody/rotate_secret", { method: "POST" }, 404],
    [`keys/${id}`, { method: "DELETE" }, 404],
    ["keys/x", { method: "DELETE" }, 404],
    ["sellers/acme/keys", { body: key("a\nb") }, 422],
    ["sellers/acme/keys", { body: key("x".repeat(65)) }, 422],
    ["sellers/acme/keys", { body: "<key><name>x</name></key>" }, 422],
  ];
  for (const [path, request, status] of refused) {
    const answer = await operate(app, path, request);
    assertEquals(answer.status, status, `${path}: ${answer.text}`);
  }
  assertEquals(await audit(app), []);
});

contract.test("keys: a webhook secret is rotated", async () => {
  await using app = await boot(OPERATOR);
  const rotate = () =>
    operate(app, "sellers/acme/rotate_secret", { method: "POST" });
  const secret = textAt((await rotate()).xml, "webhook_secret");
  assertMatch(secret, /^whsec_/);
  assertNotEquals(textAt((await rotate()).xml, "webhook_secret"), secret);
  assertEquals((await audit(app)).length, 2);
});
