/** What keys may do, and how sellers make, rotate and revoke them. */
import {
  assert,
  assertEquals,
  assertNotEquals,
  assertStringIncludes,
} from "@std/assert";
import { KEYS_LIMIT } from "../../src/sellers/own_keys.ts";
import { systemDeps } from "../../src/deps.ts";
import { ALL_RIGHTS } from "../../src/sellers/key_rights.ts";
import { addKey, listKeys } from "../../src/sellers/key_rows.ts";
import {
  type Answer,
  boot,
  child,
  codeOf,
  detailsOf,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { TestClock, until as soon } from "../support/clock.ts";
import { contract } from "../support/forms.ts";

const KEYS = "/seller_api/keys";
const OPERATOR = { config: { operatorKey: "op", rateLimit: 0 } };
const DAY_MS = 86_400_000;
/** For how long a key is cached. */
const CACHED_MS = 500;

function ask(
  app: TestApp,
  { path = "", method, body, key }: {
    path?: string;
    method?: string;
    body?: string;
    key?: string;
  } = {},
): Promise<Answer> {
  return app.call(`${KEYS}${path}`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    body,
    ...(key !== undefined && { key }),
  });
}

const scopes = (...names: string[]) =>
  `<scopes>${names.map((name) => `<scope>${name}</scope>`).join("")}</scopes>`;
const networks = (...names: string[]) =>
  `<networks>${
    names.map((name) => `<network>${name}</network>`).join("")
  }</networks>`;
const until = (time: number) =>
  `<expires_at>${new Date(time).toISOString()}</expires_at>`;

/** Creates a key; returns the key and its id. */
async function make(app: TestApp, content = "", key?: string) {
  const made = await ask(app, { body: `<key>${content}</key>`, key });
  assertEquals(made.status, 200, made.text);
  return {
    key: textAt(made.xml, "key/api_key"),
    id: textAt(made.xml, "key/key_id"),
    node: child(made.xml, "key"),
  };
}

async function firstId(app: TestApp): Promise<string> {
  const [{ id }] = await app.app.db.read((sql) => listKeys(sql, 1));
  return id;
}

async function statusOf(app: TestApp, key: string, more = {}): Promise<number> {
  return (await app.call("/seller_api/account", { key, ...more })).status;
}

/** The rights of the listed keys. */
async function listed(app: TestApp): Promise<string[]> {
  const answer = await ask(app);
  return child(answer.xml, "keys").children.map((key) => {
    const words = (name: string) =>
      child(key, name).children.map(({ text }) => text).join(" ");
    return [
      textAt(key, "label"),
      words("scopes"),
      words("networks"),
      textAt(key, "expires_at"),
      key.children.some(({ name }) => name === "current") ? "current" : "",
    ].join("|");
  });
}

/** Entries of the audit log about sellers' keys, the newest first. */
async function audit(app: TestApp): Promise<string[]> {
  const answer = await app.call("/operator_api/audit", { key: "op" });
  return child(answer.xml, "audit").children.map((entry) =>
    ["who", "action", "seller", "detail"]
      .map((name) => textAt(entry, name)).join(" | ")
  );
}

contract.test("keys: a seller makes a key with fewer scopes, which is listed and audited", async () => {
  const clock = new TestClock();
  await using app = await boot({ ...OPERATOR, deps: { clock } });
  const end = clock.now() + DAY_MS;
  const made = await make(
    app,
    `<label>PIM</label>${scopes("webhooks", "read")}` +
      `${networks("127.0.0.0/8", "2001:db8::/32")}${until(end)}`,
  );
  const last = `PIM|read webhooks|127.0.0.0/8 2001:db8::/32|${
    new Date(end).toISOString()
  }|`;
  assertEquals(await listed(app), [
    "|read products webhooks keys|||current",
    last,
  ]);
  assertEquals(await audit(app), [
    `seller | key add | acme | key ${made.id}, PIM, scopes read webhooks, ` +
    `until ${new Date(end).toISOString()}, from 127.0.0.0/8 2001:db8::/32, ` +
    `by ${await firstId(app)}`,
  ]);
  assertEquals(await statusOf(app, made.key), 200);
});

contract.test("keys: operators create keys with the same document", async () => {
  await using app = await boot(OPERATOR);
  const made = await app.call("/operator_api/sellers/acme/keys", {
    method: "POST",
    key: "op",
    body: `<key>${networks("10.0.0.0/8")}<label>ERP</label>${
      scopes("products")
    }<expires_at/></key>`,
  });
  assertEquals(made.status, 200, made.text);
  assertEquals((await listed(app))[1], "ERP|products|10.0.0.0/8||");
  const key = textAt(made.xml, "key/api_key");
  assertEquals(await statusOf(app, key), 401, "it is sent from elsewhere");
});

contract.test("keys: all mistakes of a document are reported", async () => {
  const clock = new TestClock();
  await using app = await boot({ ...OPERATOR, deps: { clock } });
  for (
    const [content, ...expected] of [
      [scopes(), "scopes required"],
      [scopes("write"), "scopes/scope[1] not_in_list"],
      [scopes("read", "read"), "scopes/scope[2] repeated_value"],
      ["<scopes>read</scopes>", "scopes unexpected_text", "scopes required"],
      ["<scopes><s>read</s></scopes>", "s unknown_element", "scopes required"],
      [networks(), "networks required"],
      [networks("192.0.2.1"), "networks/network[1] not_allowed"],
      [networks("192.0.2.0/33"), "networks/network[1] not_allowed"],
      [networks("10.0.0.0/08"), "networks/network[1] not_allowed"],
      [networks("10.1.2.3/8"), "networks/network[1] not_allowed"],
      [
        networks("::ffff:192.0.2.0/120", "::ffff:c000:200/120"),
        "networks/network[1] not_allowed",
        "networks/network[2] not_allowed",
      ],
      [
        networks(...Array.from({ length: 33 }, (_, i) => `10.0.${i}.0/24`)),
        "networks too_many",
      ],
      ["<expires_at>tomorrow</expires_at>", "expires_at not_a_date"],
      [until(clock.now()), "expires_at out_of_range"],
      [`<label>${"x".repeat(65)}</label>`, "label too_long"],
      ["<scope>read</scope>", "scope unknown_element"],
    ]
  ) {
    const answer = await ask(app, { body: `<key>${content}</key>` });
    assertEquals(answer.status, 422, answer.text);
    const codes = detailsOf(answer).map(({ field, code }) =>
      `${field} ${code}`
    );
    assertEquals(codes, expected, content);
  }
  assertEquals((await listed(app)).length, 1);
  assertEquals(await audit(app), []);
});

contract.test("keys: no key creates a key with more rights than its own", async () => {
  const clock = new TestClock();
  await using app = await boot({ ...OPERATOR, deps: { clock } });
  const end = clock.now() + DAY_MS;
  const { key } = await make(
    app,
    `${scopes("read", "keys")}${networks("127.0.0.0/8", "::1/128")}${
      until(end)
    }`,
  );
  const inherited = await make(app, "", key);
  assertEquals(
    (await listed(app))[2],
    (await listed(app))[1],
    inherited.node.source,
  );
  const narrower = `${scopes("keys")}${networks("127.0.0.1/32")}${
    until(end - 1)
  }`;
  await make(app, narrower, key);
  for (
    const [content, field, said] of [
      [scopes("read", "products"), "scopes/scope", '"products"'],
      [until(end + 1), "expires_at", "choose an earlier expiry"],
      [networks("126.0.0.0/7"), "networks/network", "126.0.0.0/7"],
      [
        networks("127.0.0.1/32", "10.0.0.0/8"),
        "networks/network",
        "10.0.0.0/8",
      ],
      [networks("::/0"), "networks/network", "::/0"],
    ]
  ) {
    const refused = await ask(app, { body: `<key>${content}</key>`, key });
    assertEquals([refused.status, codeOf(refused)], [403, "forbidden"]);
    assertEquals(detailsOf(refused).map(({ field }) => field), [field]);
    assertStringIncludes(textAt(refused.xml, "error/message"), said);
  }
  assertEquals((await listed(app)).length, 4);
  const stronger = await firstId(app);
  const rotated = await ask(app, {
    path: `/${stronger}/rotate`,
    method: "POST",
    key,
  });
  assertEquals([rotated.status, codeOf(rotated)], [403, "forbidden"]);
});

contract.test("keys: a rotated key and the new key are both valid for a day", async () => {
  const clock = new TestClock();
  await using app = await boot({ ...OPERATOR, deps: { clock } });
  const former = await make(
    app,
    `<label>ERP</label>${scopes("keys", "products")}${networks("127.0.0.0/8")}`,
  );
  const rotated = await ask(app, {
    path: `/${former.id}/rotate`,
    method: "POST",
    key: former.key,
  });
  assertEquals(rotated.status, 200, rotated.text);
  const end = new Date(clock.now() + DAY_MS).toISOString();
  assertEquals((await listed(app)).slice(1), [
    `ERP|products keys|127.0.0.0/8|${end}|`,
    "ERP|products keys|127.0.0.0/8||",
  ]);
  const key = textAt(rotated.xml, "key/api_key");
  const products = async (key: string) =>
    (await app.call("/seller_api/products", { key })).status;
  assertEquals([await products(former.key), await products(key)], [200, 200]);
  clock.leap(DAY_MS - 1);
  assertEquals([await products(former.key), await products(key)], [200, 200]);
  clock.advance(1);
  assertEquals([await products(former.key), await products(key)], [401, 200]);
  const id = textAt(rotated.xml, "key/key_id");
  assertEquals(
    (await audit(app))[0],
    `seller | key rotate | acme | key ${former.id} until ${end}, now key ` +
      `${id}, ERP, scopes products keys, from 127.0.0.0/8, by ${former.id}`,
  );
  const again = await ask(app, {
    path: `/${former.id}/rotate`,
    method: "POST",
  });
  assertEquals([again.status, codeOf(again)], [409, "conflict"]);
});

contract.test("keys: a key with networks or an expiry cannot rotate a key without them", async () => {
  await using app = await boot(OPERATOR);
  const first = await firstId(app);
  for (
    const rights of [
      networks("127.0.0.0/8", "::1/128"),
      until(Date.now() + DAY_MS),
    ]
  ) {
    const { id, key } = await make(app, rights);
    const rotate = (id: string) =>
      ask(app, { path: `/${id}/rotate`, method: "POST", key });
    const answer = await rotate(first);
    assertEquals([answer.status, codeOf(answer)], [403, "forbidden"], rights);
    assertEquals((await rotate(id)).status, 200, rights);
  }
});

contract.test("keys: a rotation extends no expiry", async () => {
  const clock = new TestClock();
  await using app = await boot({ ...OPERATOR, deps: { clock } });
  const end = clock.now() + 1_000;
  const { id, key } = await make(app, until(end));
  await ask(app, { path: `/${id}/rotate`, method: "POST", key });
  const times = (await listed(app)).map((line) => line.split("|")[3]);
  const same = new Date(end).toISOString();
  assertEquals(times, ["", same, same]);
});

contract.test("keys: the last key with the scope keys cannot be revoked", async () => {
  const clock = new TestClock();
  await using app = await boot({ ...OPERATOR, deps: { clock } });
  const first = await firstId(app);
  const remove = (id: string, key?: string) =>
    ask(app, { path: `/${id}`, method: "DELETE", key });
  await make(app, scopes("read", "products", "webhooks"));
  const brief = await make(app, until(clock.now() + 1_000));
  clock.advance(1_000);
  const last = await remove(first);
  assertEquals([last.status, codeOf(last)], [409, "conflict"]);
  const { paths } = JSON.parse((await app.call("/openapi.json")).text);
  const { responses } = paths[`${KEYS}/{key_id}`].delete;
  assert("409" in responses, "the status is documented");
  const ending = await make(app, until(clock.now() + DAY_MS - 1));
  assertEquals((await remove(first)).status, 409, "the other one ends soon");
  const sooner = await make(app, until(clock.now() + 60_000));
  assertEquals((await remove(sooner.id)).status, 200);
  const { id, key } = await make(app, scopes("keys"));
  assertEquals((await remove(ending.id, ending.key)).status, 200);
  assertEquals((await remove(first)).status, 200);
  assertEquals((await remove(first, key)).status, 200, "once more");
  clock.advance(CACHED_MS);
  assertEquals((await remove(id)).status, 401, "by the one that is revoked");
  assertEquals((await remove(id, key)).status, 409);
  assertEquals((await remove(crypto.randomUUID(), key)).status, 404);
  assertEquals(await statusOf(app, brief.key), 401);
});

contract.test("keys: a key without the scope keys can be revoked at any time", async () => {
  const clock = new TestClock();
  await using app = await boot({ ...OPERATOR, deps: { clock } });
  const remove = (id: string, key: string) =>
    ask(app, { path: `/${id}`, method: "DELETE", key });
  const { key } = await make(app, until(clock.now() + 2 * DAY_MS));
  const other = await make(app, scopes("products"));
  assertEquals((await remove(await firstId(app), key)).status, 200);
  clock.advance(1.5 * DAY_MS);
  const revoked = await remove(other.id, key);
  assertEquals(revoked.status, 200, "although the only other key ends soon");
  clock.advance(CACHED_MS);
  assertEquals(await statusOf(app, other.key), 401);
});

contract.test("keys: if the last two keys revoke each other, one of them stays valid", async () => {
  await using app = await boot(OPERATOR);
  const first = await firstId(app);
  const { id, key } = await make(app);
  const answers = await Promise.all([
    ask(app, { path: `/${id}`, method: "DELETE" }),
    ask(app, { path: `/${first}`, method: "DELETE", key }),
  ]);
  const statuses = answers.map(({ status }) => status).sort();
  assertEquals(statuses[0], 200);
  assert([401, 409].includes(statuses[1]), `${statuses}`);
});

contract.test("keys: other sellers' keys are not found", async () => {
  await using app = await boot(OPERATOR);
  const key = await app.addSeller("globex");
  const id = await firstId(app);
  for (const path of [`/${id}`, `/${id}/rotate`]) {
    const method = path === `/${id}` ? "DELETE" : "POST";
    assertEquals((await ask(app, { path, method, key })).status, 404);
  }
});

contract.test("keys: the number of keys per day is limited, and old keys are deleted", async () => {
  const clock = new TestClock();
  await using app = await boot({ ...OPERATOR, deps: { clock } });
  const { ids } = systemDeps("error");
  const store = (count: number, from: number, expiresAt: number) =>
    app.app.db.write(async (tx) => {
      const rights = { ...ALL_RIGHTS, expiresAt };
      for (let n = 0; n < count; n++) {
        const made = { clock: new TestClock(from + n), ids };
        await addKey(tx, made, 1, { rights });
      }
    });
  const lastUse = async () =>
    textAt((await ask(app)).xml, "keys/key/last_used_at");
  await ask(app);
  clock.advance(5_000);
  await soon(async () => await lastUse() !== "", "the use recorded");
  const day = clock.now() - DAY_MS;
  await store(KEYS_LIMIT + 5, day - 1_000, day);
  const former = await ask(app);
  await make(app);
  const [own, first, ...rest] = child(former.xml, "keys").children
    .map((key) => textAt(key, "key_id"));
  const { xml } = await ask(app);
  const left = child(xml, "keys").children.map((key) => textAt(key, "key_id"));
  assertEquals(left.slice(0, -1), [own, ...rest.slice(4)]);
  assert(!left.includes(first));
  assertNotEquals(await lastUse(), "", "of the key that is left");
  await store(KEYS_LIMIT - 2, day + 1, day + 2);
  const refused = await ask(app, { body: "<key/>" });
  assertEquals(detailsOf(refused).map(({ code }) => code), ["quota_exceeded"]);
  clock.leap(1_000);
  assertEquals((await ask(app, { body: "<key/>" })).status, 200);
});

contract.test("keys: a revoked, expired or foreign-network key is refused, and the operator sees why", async () => {
  const clock = new TestClock();
  await using app = await boot({
    config: { operatorKey: "op", trustProxy: 1 },
    deps: { clock },
  });
  const ended = await make(app, until(clock.now() + 1_000));
  const placed = await make(app, networks("198.51.100.0/24", "2001:db8::/32"));
  const from = (address: string) => ({
    headers: { "X-Forwarded-For": address },
  });
  for (
    const [address, status] of [
      ["198.51.100.7", 200],
      ["::ffff:198.51.100.7", 200],
      ["198.51.100.7, 203.0.113.1", 401],
      ["2001:db8:1::1", 200],
      ["2001:db9::1", 401],
      ["unknown", 401],
    ] as const
  ) {
    assertEquals(await statusOf(app, placed.key, from(address)), status);
  }
  assertEquals(await statusOf(app, ended.key), 200);
  clock.advance(1_000);
  const answer = await app.call("/seller_api/account", { key: ended.key });
  const unknown = await app.call("/seller_api/account", { key: "sk_x" });
  const gone = await make(app, "");
  await app.call(`/seller_api/keys/${gone.id}`, { method: "DELETE" });
  const revokedAt = clock.now();
  clock.advance(1_000);
  const late = await app.call("/seller_api/account", { key: gone.key });
  const body = ({ text }: Answer) => text.replace(/<request_id>.*/, "");
  assertEquals([body(answer), body(late)], [body(unknown), body(unknown)]);

  const { xml } = await app.call("/operator_api/refusals", { key: "op" });
  const iso = (time: number) => new Date(time).toISOString();
  const why = child(xml, "refusals").children.map((refusal) =>
    ["seller", "route", "status", "code", "message"]
      .map((name) => textAt(refusal, name)).join(" ")
  );
  const account = "acme GET /seller_api/account 401 unauthorized";
  const elsewhere = (address: string) =>
    `${account} The key ${placed.id} was sent from ${address}, ` +
    "which is in none of its networks.";
  assertEquals(why, [
    `${account} The key ${gone.id} was revoked at ${iso(revokedAt)}.`,
    `${account} The key ${ended.id} expired at ${iso(revokedAt)}.`,
    ...["127.0.0.1", "2001:db9::1", "203.0.113.1"].map(elsewhere),
  ]);
  const line = app.log.findLast(({ reason }) => reason !== undefined);
  assertEquals([line?.seller, line?.reason], [
    "acme",
    why[0].replace(`${account} `, ""),
  ]);
});

contract.test("keys: repeated use of a revoked key replaces no other refusal", async () => {
  await using app = await boot(OPERATOR);
  await app.upload("<product/>");
  const gone = await make(app);
  await app.call(`/seller_api/keys/${gone.id}`, { method: "DELETE" });
  for (let n = 0; n < 30; n++) {
    assertEquals(await statusOf(app, gone.key), 401);
  }
  const { xml } = await app.call("/seller_api/refusals");
  const kept = child(xml, "refusals").children.map((refusal) =>
    [textAt(refusal, "code"), textAt(refusal, "times")].join(" ")
  );
  assertEquals(kept, ["unauthorized 30", "record_invalid 1"]);
});

contract.test("keys: every key can read its account and rotate itself, but no other key", async () => {
  await using app = await boot(OPERATOR);
  const only = "<scopes><scope>webhooks</scope></scopes>";
  const own = await make(app, only);
  const other = await make(app, only);
  const account = await app.call("/seller_api/account", { key: own.key });
  assertEquals(textAt(account.xml, "account/key_id"), own.id);
  const rotate = (id: string) =>
    app.call(`/seller_api/keys/${id}/rotate`, { method: "POST", key: own.key });
  const refused = await rotate(other.id);
  assertEquals([refused.status, codeOf(refused)], [403, "forbidden"]);
  const rotated = await rotate(own.id);
  assertEquals(rotated.status, 200, rotated.text);
  assertEquals(textAt(rotated.xml, "key/scopes/scope"), "webhooks");
  const viewed = await app.call(
    "/operator_api/sellers/acme/seller_api/account",
    { key: "op" },
  );
  assertEquals(viewed.text.includes("<key_id>"), false);
});

contract.test("keys: a request that waits ends with its key", async () => {
  const clock = new TestClock();
  await using app = await boot({ ...OPERATOR, deps: { clock } });
  const { key } = await make(app, until(clock.now() + 5_000));
  const waits = app.call("/seller_api/events?wait=30", { key });
  let answer: Answer | null = null;
  waits.then((one) => answer = one);
  const began = clock.now();
  while (answer === null) {
    clock.advance(100);
    await new Promise((done) => setTimeout(done, 2));
  }
  assertEquals((await waits).status, 401);
  const took = clock.now() - began;
  assert(took >= 5_000 && took < 30_000, `${took}`);
});

contract.test("keys: the account shows the addresses of our requests", async () => {
  const sourceAddresses = ["198.51.100.16/28", "2001:db8::/64"];
  await using app = await boot({ config: { sourceAddresses } });
  const { xml } = await app.call("/seller_api/account");
  const reported = child(child(xml, "account"), "source_addresses").children;
  assertEquals(reported.map(({ text }) => text), sourceAddresses);
  assertEquals(reported[0].name, "source_address");
});
