/** Events that a seller reads, and recovers by time. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  boot,
  child,
  codeOf,
  detailsOf,
  type TestApp,
  textAt,
} from "../../support/app.ts";
import { systemClock } from "../../../src/deps.ts";
import { inParallel } from "../../../src/lib/in_parallel.ts";
import { TestClock, until } from "../../support/clock.ts";
import { WebhookSink } from "../../support/webhook_sink.ts";
import { bothEngines } from "../../support/engine.ts";
import { bothForms, contract } from "../../support/forms.ts";

const EVENTS = "/seller_api/events";
const OPERATOR = "op";
const CONFIG = { operatorKey: OPERATOR };

async function emit(
  app: TestApp,
  reference: string,
  { trigger = "order_created", seller = "acme", data = reference } = {},
): Promise<string> {
  const answer = await app.call("/operator_api/events", {
    method: "POST",
    key: OPERATOR,
    body: `<event><seller>${seller}</seller><trigger>${trigger}</trigger>` +
      `<reference>${reference}</reference><data>${data}</data></event>`,
  });
  assertEquals(answer.status, 200, answer.text);
  return textAt(answer.xml, "event_id");
}

async function pull(app: TestApp, query = "", key = app.key) {
  const answer = await app.call(`${EVENTS}${query}`, { key });
  assertEquals(answer.status, 200, answer.text);
  const [events, next] = answer.xml.children;
  return {
    ids: events.children.map((event) => textAt(event, "id")),
    data: events.children.map((event) => textAt(event, "data")),
    next: next.text,
    text: answer.text,
  };
}

function register(app: TestApp, url: string, trigger = "order_created") {
  return app.call("/seller_api/webhooks", {
    method: "POST",
    body: `<webhook><trigger>${trigger}</trigger><url>${url}</url></webhook>`,
  });
}

contract.test("every event is pulled in order, from any cursor", async () => {
  await using app = await boot({ config: CONFIG });
  const other = await app.addSeller("other");
  assertEquals((await pull(app)).next, "0");
  const ids: string[] = [];
  for (let i = 0; i < 7; i++) {
    if (i === 3) await register(app, "http://127.0.0.1:9000/");
    const trigger = i % 3 === 0 ? "order_paid" : "order_created";
    ids.push(await emit(app, `${i}`, { trigger }));
    await emit(app, `${i}`, { trigger });
    await emit(app, `${i}`, { seller: "other" });
  }
  const tested = "/seller_api/webhooks/order_created/test";
  assertEquals((await app.call(tested, { method: "POST" })).status, 200);
  assertEquals((await pull(app)).ids, ids, "no test event, none twice");
  for (const limit of [1, 2, 3, 7, 250]) {
    const seen: string[] = [];
    let after = "0";
    for (;;) {
      const page = await pull(app, `?after=${after}&limit=${limit}`);
      assert(page.ids.length <= limit);
      seen.push(...page.ids);
      if (page.ids.length === 0) {
        assertEquals(page.next, after, "an empty page keeps its place");
        break;
      }
      after = page.next;
    }
    assertEquals(seen, ids, `limit ${limit}`);
  }
  const paid = await pull(app, "?trigger=order_paid&limit=2");
  assertEquals(paid.ids, [ids[0], ids[3]]);
  const rest = await pull(app, `?trigger=order_paid&after=${paid.next}`);
  assertEquals(rest.ids, [ids[6]]);
  assertEquals((await pull(app, "?reference=3")).ids, [ids[3]]);
  assertEquals((await pull(app, "?reference=+3+")).ids, [ids[3]]);
  assertEquals((await pull(app, "?reference=3&trigger=order_paid")).ids, [
    ids[3],
  ]);
  assertEquals((await pull(app, `?id=${ids[3]}`)).ids, [ids[3]]);
  assertEquals((await pull(app, `?id=${app.sellerId}`)).ids, []);
  const none = "?reference=3&trigger=order_created";
  assertEquals((await pull(app, none)).ids, []);
  assertEquals((await pull(app, "", other)).ids.length, 7);
});

bothEngines.test("an event is pulled byte for byte as it is delivered", async () => {
  await using sink = new WebhookSink();
  await using app = await boot({
    config: { ...CONFIG, roles: ["api", "webhooks"] },
  });
  await register(app, sink.url());
  await emit(app, "1", {
    data:
      `<a:b xmlns:a='urn:a'  x="&lt;&#13;"><![CDATA[<&]]></a:b>\n<!-- c -->ö`,
  });
  await until(() => sink.received.length === 1);
  const { text } = await pull(app);
  assertStringIncludes(text, `<events>${sink.received[0].text}</events>`);
});

bothForms.test("a bad parameter of the events is refused, and the message names valid values", async () => {
  await using app = await boot({ config: CONFIG });
  await emit(app, "1");
  const wrong: [string, string, string][] = [
    ["after=x", "after", "not_allowed"],
    ["after=-1", "after", "not_allowed"],
    ["after=2", "after", "not_allowed"],
    ["limit=0", "limit", "out_of_range"],
    ["limit=251", "limit", "out_of_range"],
    ["trigger=order_creatd", "trigger", "not_in_list"],
    ["reference=", "reference", "required"],
    ["id=1", "id", "not_allowed"],
    [`reference=${"x".repeat(256)}`, "reference", "too_long"],
  ];
  for (const [query, field, code] of wrong) {
    const answer = await app.call(`${EVENTS}?${query}`);
    assertEquals([answer.status, codeOf(answer)], [422, "record_invalid"]);
    const [detail] = detailsOf(answer);
    assertEquals([detail.field, detail.code], [field, code], query);
  }
  const wait = await app.call(`${EVENTS}?wait=soon`);
  assertEquals(wait.status, 400);
  assertEquals((await app.call(EVENTS, { key: "no" })).status, 401);
});

contract.test("a wait ends at the first event after the cursor, or at its time limit", async () => {
  const clock = new TestClock();
  await using app = await boot({ config: CONFIG, deps: { clock } });
  await emit(app, "1");
  const waiting = pull(app, "?after=1&wait=30&trigger=order_paid");
  await emit(app, "2");
  const id = await emit(app, "3", { trigger: "order_paid" });
  assertEquals((await waiting).ids, [id]);
  let hasEnded = false;
  const vain = pull(app, "?after=3&wait=99").finally(() => hasEnded = true);
  const began = clock.now();
  await until(() => {
    clock.advance(500);
    return hasEnded;
  }, "the end of the wait");
  assert(clock.now() - began >= 30_000);
  assertEquals((await vain).next, "3");
  assertEquals((await vain).ids, []);
});

contract.test("a list of events has at most 4 MiB and a cursor to continue", async () => {
  await using app = await boot({ config: CONFIG });
  const data = "x".repeat(250 * 1_024);
  for (let i = 0; i < 20; i++) await emit(app, `${i}`, { data });
  const seen: string[] = [];
  let after = "0";
  for (let pages = 0; pages < 2; pages++) {
    const page = await pull(app, `?after=${after}`);
    assert(page.text.length <= 4 * 1_024 * 1_024, `${page.text.length}`);
    seen.push(...page.ids);
    after = page.next;
  }
  assertEquals(seen.length, 20);
  assertEquals(new Set(seen).size, 20);
});

const RECOVER = "/seller_api/webhooks/order_created/recover";

function at(time: number): string {
  return new Date(time).toISOString();
}

contract.test("recover delivers exhausted, cancelled, undelivered and waiting events, each once", async () => {
  let ahead = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  await using sink = new WebhookSink();
  await using app = await boot({
    config: { ...CONFIG, roles: ["api", "webhooks"] },
    deps: { clock },
  });
  const recover = async (query: string) => {
    const answer = await app.call(`${RECOVER}?${query}`, { method: "POST" });
    assertEquals(answer.status, 200, answer.text);
    assert(!answer.text.includes("<held>"), answer.text);
    return textAt(answer.xml, "recovery/queued");
  };
  const states = () =>
    app.app.db.read((sql) =>
      sql.all<{ state: string; n: number }>(
        "SELECT state, COUNT(*) AS n FROM deliveries GROUP BY state ORDER BY state",
      )
    );
  const early = await emit(app, "early");
  ahead += 60_000;
  const since = clock.now();
  const never = await emit(app, "never");
  await emit(app, "other", { trigger: "order_paid" });
  await register(app, sink.url());
  const delivered = await emit(app, "delivered");
  await until(() => sink.received.length === 1);
  sink.answering = () => new Response(null, { status: 500 });
  const cancelled = await emit(app, "cancelled");
  await until(() => sink.received.length === 2);
  await app.call("/seller_api/webhooks/order_created", { method: "DELETE" });
  const missing = await app.call(`${RECOVER}?since=2026-01-01`, {
    method: "POST",
  });
  assertEquals(missing.status, 404);
  assertStringIncludes(missing.text, "register one for order_created first");
  await register(app, sink.url());
  const exhausted = await emit(app, "exhausted");
  await until(() => sink.received.length === 3);
  await until(async () =>
    (await states()).every(({ state }) => state !== "sending")
  );
  await app.app.db.write((tx) =>
    tx.run(
      "UPDATE deliveries SET state = 'exhausted', due_at = NULL, settled_at = 1 WHERE event_id = ?",
      [exhausted],
      "any",
    )
  );
  const last = clock.now();
  ahead += 60_000;
  await emit(app, "late", { trigger: "order_created" });
  await until(() => sink.received.length === 4);
  await until(async () =>
    (await states()).some(({ state }) => state === "retrying")
  );
  sink.answering = () => new Response();
  const before = sink.received.length;
  const period = `since=${at(since)}&until=${at(last)}`;
  assertEquals(await recover(period), "3");
  await until(() => sink.received.length === before + 3);
  assertEquals(
    sink.received.slice(before).map(({ headers }) => headers.get("webhook-id"))
      .sort(),
    [never, cancelled, exhausted].sort(),
  );
  assertEquals(await recover(period), "0", "nothing twice");
  assert(
    ![early, delivered].some((id) =>
      sink.received.slice(before).some(({ headers }) =>
        headers.get("webhook-id") === id
      )
    ),
  );
  const all = `since=${at(since - 120_000)}`;
  assertEquals(await recover(all), "2", "the early, and the late");
  await until(() => sink.received.length === before + 5);
  assertEquals(await recover(all), "0", "nothing twice");
});

contract.test("recover counts the held deliveries of a disabled webhook and covers long periods in steps", async () => {
  await using app = await boot({ config: CONFIG });
  const count = 601;
  const references = Array.from({ length: count }, (_, i) => `${i}`);
  await inParallel(50, references, (reference) => emit(app, reference));
  await register(app, "http://127.0.0.1:9000/");
  await app.app.db.write((tx) =>
    tx.run("UPDATE webhooks SET disabled_at = 1", [], "any")
  );
  for (let i = 0; i < 2; i++) {
    const answer = await app.call(`${RECOVER}?since=2020-01-01`, {
      method: "POST",
    });
    assertEquals(textAt(answer.xml, "recovery/queued"), `${count}`);
    assertEquals(textAt(answer.xml, "recovery/held"), `${count}`);
  }
  const held = await app.app.db.read((sql) =>
    sql.get("SELECT COUNT(*) AS n FROM deliveries WHERE state = 'held'")
  );
  assertEquals(held, { n: count });
  await app.app.db.write((tx) =>
    tx.run("UPDATE deliveries SET state = 'pending', due_at = 1", [], "any")
  );
  const pending = await app.call(`${RECOVER}?since=2020-01-01`, {
    method: "POST",
  });
  assertEquals(textAt(pending.xml, "recovery/queued"), "0");
});

contract.test("recover refuses invalid requests", async () => {
  await using app = await boot({ config: CONFIG });
  await register(app, "http://127.0.0.1:9000/");
  const wrong: [string, string, string][] = [
    ["", "since", "required"],
    ["?until=2026-01-01", "since", "required"],
    ["?since=yesterday", "since", "not_a_date"],
    ["?since=2026-01-01&until=1", "until", "not_a_date"],
    ["?since=2026-01-02&until=2026-01-01", "until", "not_allowed"],
  ];
  for (const [query, field, code] of wrong) {
    const answer = await app.call(RECOVER + query, { method: "POST" });
    assertEquals([answer.status, codeOf(answer)], [422, "record_invalid"]);
    const [detail] = detailsOf(answer);
    assertEquals([detail.field, detail.code], [field, code], query);
  }
  const unknown = await app.call(
    "/seller_api/webhooks/nothing/recover?since=2026-01-01",
    { method: "POST" },
  );
  assertEquals(unknown.status, 404);
});

bothEngines.test("a repeated reference with other data is refused; with equal data it returns the first event", async () => {
  await using app = await boot({ config: CONFIG });
  const handIn = (reference: string, data: string, type = "text/xml") =>
    app.call("/operator_api/events", {
      method: "POST",
      key: OPERATOR,
      headers: { "Content-Type": type, Accept: "text/xml" },
      body: type === "text/xml"
        ? "<event><seller>acme</seller><trigger>order_created</trigger>" +
          `<reference>${reference}</reference>${data}</event>`
        : JSON.stringify({
          seller: "acme",
          trigger: "order_created",
          reference,
          data: JSON.parse(data),
        }),
    });
  const first = await handIn(
    "1",
    "<data><n>1</n><total cur='EUR'>9</total></data>",
  );
  assertEquals(first.status, 200, first.text);
  for (
    const same of [
      await handIn("1", "<data><n>1</n><total cur='EUR'>9</total></data>"),
      await handIn("1", '<data>\n <total cur="EUR">9</total> <n>1</n></data>'),
    ]
  ) {
    assertEquals([same.status, same.text], [200, first.text]);
  }
  for (
    const other of [
      await handIn("1", "<data><n>2</n><total cur='EUR'>9</total></data>"),
      await handIn("1", "<data><n>1</n></data>"),
      await handIn("1", ""),
    ]
  ) {
    assertEquals([other.status, codeOf(other)], [409, "reference_reused"]);
  }
  const json = await handIn("2", '{"n": "1"}', "application/json");
  assertEquals(json.status, 200, json.text);
  const asXml = await handIn("2", "<data><n>1</n></data>");
  assertEquals(
    textAt(asXml.xml, "event_id"),
    textAt(json.xml, "event_id"),
  );
  const empty = await handIn("3", "");
  assertEquals(
    textAt((await handIn("3", "<data/>")).xml, "event_id"),
    textAt(empty.xml, "event_id"),
  );
  const { xml } = await app.call(EVENTS);
  assertEquals(child(xml, "events").children.length, 3);
});

/** Values that a conversion through XML would change. */
const EXACT_DATA =
  '{"order":{"lines":[{"sku":"A","n":7}],"notes":[],"paid":true,' +
  '"total":{"@currency":"SEK","#text":149.50},"tags":["one"],"gift":null,' +
  '"small":1e-2,"zero":0,"empty":{},"text":""}}';
const EXACT_IN_XML =
  "<order><lines><sku>A</sku><n>7</n></lines><paid>true</paid>" +
  '<total currency="SEK">149.50</total><tags>one</tags><gift/>' +
  "<small>1e-2</small><zero>0</zero><empty/><text/></order>";

bothEngines.test("data sent in JSON is delivered in JSON unchanged", async () => {
  await using sink = new WebhookSink();
  await using app = await boot({
    config: { ...CONFIG, roles: ["api", "webhooks"] },
  });
  const registerFor = (trigger: string, format: string) =>
    app.call("/seller_api/webhooks", {
      method: "POST",
      body: `<webhook><trigger>${trigger}</trigger>` +
        `<url>${sink.url(`/${format}`)}</url>` +
        `<format>${format}</format></webhook>`,
    });
  await registerFor("order_created", "json");
  await registerFor("order_paid", "xml");
  for (const trigger of ["order_created", "order_paid"]) {
    const answer = await app.call("/operator_api/events", {
      method: "POST",
      key: OPERATOR,
      headers: { "Content-Type": "application/json", Accept: "text/xml" },
      body: `{"seller": "acme", "reference": "1", "data": ${EXACT_DATA},
        "trigger": "${trigger}"}`,
    });
    assertEquals(answer.status, 200, answer.text);
  }
  await until(() => sink.received.length === 2);
  const [[json], [xml]] = [sink.at("/json"), sink.at("/xml")];
  assertStringIncludes(json.text, `"data":${EXACT_DATA}}`);
  assertStringIncludes(xml.text, `<data>${EXACT_IN_XML}</data>`);

  const listed = await app.call(EVENTS, {
    headers: { Accept: "application/json" },
  });
  assertEquals(listed.text.split(`"data":${EXACT_DATA}}`).length, 3);
  assertStringIncludes(listed.text, json.text);
  const { text } = await app.call(EVENTS, { headers: { Accept: "text/xml" } });
  assertStringIncludes(text, xml.text);
});

bothEngines.test("a repeated reference in JSON is recognized by equal values", async () => {
  await using app = await boot({ config: CONFIG });
  const handIn = async (data: string) => {
    const { status, text } = await app.call("/operator_api/events", {
      method: "POST",
      key: OPERATOR,
      headers: { "Content-Type": "application/json" },
      body: `{"seller": "acme", "trigger": "order_paid", "reference": "1",
        "data": ${data}}`,
    });
    return [status, text];
  };
  const first = await handIn('{"n": 7, "of": ["a"], "none": []}');
  assertEquals(first[0], 200);
  assertEquals(await handIn('{"of":["a"],"none":[],"n":7.0}'), first);
  for (
    const other of [
      '{"n": "7", "of": ["a"], "none": []}',
      '{"n": 7, "of": "a", "none": []}',
      '{"n": 7, "of": ["a"]}',
    ]
  ) {
    const [status, text] = await handIn(other);
    assertEquals(status, 409, other);
    assertStringIncludes(`${text}`, "reference_reused");
  }
  for (
    const [data, said] of [
      ['{"two words": 1}', "which no XML element can have"],
      ['{"n": [[1]]}', "an array in the array"],
      ["[1]", "must be an object"],
    ]
  ) {
    const [status, text] = await handIn(data);
    assertEquals(status, 422, data);
    assertStringIncludes(`${text}`, said);
  }
});
