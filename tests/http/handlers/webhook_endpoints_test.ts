import { assert, assertEquals, assertMatch } from "@std/assert";
import { Webhook } from "standardwebhooks";
import type { DeliveredEvent } from "../../../src/client/mod.ts";
import {
  type Answer,
  boot,
  codeOf,
  detailsOf,
  type TestApp,
  textAt,
} from "../../support/app.ts";
import { until } from "../../support/clock.ts";
import { WebhookSink } from "../../support/webhook_sink.ts";
import { bothForms, contract } from "../../support/forms.ts";

const WEBHOOKS = "/seller_api/webhooks";
const OPERATOR = "the operator's key";

function post(app: TestApp, trigger: string, url: string, key = app.key) {
  return app.call(WEBHOOKS, {
    method: "POST",
    key,
    body: `<webhook><trigger>${trigger}</trigger><url>${
      url.replaceAll("&", "&amp;")
    }</url></webhook>`,
  });
}

function raw(app: TestApp, body: string): Promise<Answer> {
  return app.call(WEBHOOKS, { method: "POST", body });
}

async function listed(app: TestApp, key = app.key) {
  const { xml } = await app.call(WEBHOOKS, { key });
  return xml.children.map(({ name, children }) => [
    name,
    ...children.map((each) => `${each.name}=${each.text}`),
  ]);
}

function codes(answer: Answer): string[][] {
  return detailsOf(answer).map(({ field, code }) => [field, code]);
}

contract.test("a webhook is created, listed and deleted", async () => {
  await using app = await boot();
  const created = await post(
    app,
    "order_created",
    "http://127.0.0.1:9000/a?b=1&c=2",
  );
  assertEquals(created.status, 200);
  assertEquals(
    created.text,
    '<?xml version="1.0" encoding="UTF-8"?><service><success>true</success></service>',
  );
  await post(app, "order_paid", "http://127.0.0.1:9000/paid");
  assertEquals(await listed(app), [
    ["webhook", "trigger=order_created", "url=http://127.0.0.1:9000/a?b=1&c=2"],
    ["webhook", "trigger=order_paid", "url=http://127.0.0.1:9000/paid"],
  ]);
  const deleted = await app.call(`${WEBHOOKS}/order_created`, {
    method: "DELETE",
  });
  assertEquals([deleted.status, deleted.text], [200, created.text]);
  assertEquals((await listed(app)).length, 1);
  const again = await app.call(`${WEBHOOKS}/order_created`, {
    method: "DELETE",
  });
  assertEquals([again.status, codeOf(again)], [404, "not_found"]);
});

contract.test("registering a webhook again replaces its URL", async () => {
  await using app = await boot();
  await post(app, "order_created", "http://127.0.0.1:9000/old");
  await post(app, "order_created", "http://127.0.0.1:9000/new");
  assertEquals(await listed(app), [
    ["webhook", "trigger=order_created", "url=http://127.0.0.1:9000/new"],
  ]);
});

bothForms.test("a webhook with the format json receives JSON, signed as sent", async () => {
  await using sink = new WebhookSink();
  await using app = await boot({
    config: { roles: ["api", "webhooks"], operatorKey: OPERATOR },
  });
  const webhook = (format: string) =>
    raw(
      app,
      `<webhook><trigger>order_created</trigger><url>${sink.url()}</url>` +
        `<format>${format}</format></webhook>`,
    );
  assertEquals(codes(await webhook("yaml")), [["format", "not_in_list"]]);
  assertEquals((await webhook("json")).status, 200);
  assertEquals((await listed(app))[0].at(-1), "format=json");
  await emit(app, "1");
  await until(() => sink.received.length === 1);
  const [{ headers, text }] = sink.received;
  assertEquals(headers.get("content-type"), "application/json");
  const rotated = await app.call(`${WEBHOOKS}/order_created/rotate_secret`, {
    method: "POST",
  });
  const secret = textAt(rotated.xml, "webhook_secret");
  await app.call(`${WEBHOOKS}/order_created/test`, { method: "POST" });
  await until(() => sink.received.length === 2);
  const [, test] = sink.received;
  const { created_at, ...event } = new Webhook(secret)
    .verify(test.text, Object.fromEntries(test.headers)) as DeliveredEvent;
  assertEquals(event, {
    test: true,
    id: test.headers.get("webhook-id")!,
    trigger: "order_created",
    data: {},
  });
  assertEquals(
    text,
    JSON.stringify({
      id: headers.get("webhook-id"),
      trigger: "order_created",
      created_at: JSON.parse(text).created_at,
      data: { total: "149.00" },
    }),
  );
  assert(Date.parse(created_at) > 0);
  await post(app, "order_created", sink.url());
  assertEquals((await listed(app))[0].length, 3);
});

contract.test("no seller sees or deletes another seller's webhooks", async () => {
  await using app = await boot();
  const other = await app.addSeller("other");
  await post(app, "order_created", "http://127.0.0.1:9000/mine");
  assertEquals(await listed(app, other), []);
  const { status } = await app.call(`${WEBHOOKS}/order_created`, {
    method: "DELETE",
    key: other,
  });
  assertEquals(status, 404);
  await post(app, "order_created", "http://127.0.0.1:9000/theirs", other);
  assertEquals((await listed(app)).flat()[2], "url=http://127.0.0.1:9000/mine");
});

bothForms.test("all problems of a webhook are listed with their lines", async () => {
  await using app = await boot();
  const answer = await raw(
    app,
    "<webhook>\n<trigger>order_creatd</trigger>\n<url>ftp://a.example/</url>\n" +
      "<urll>x</urll>\n<trigger>order_paid</trigger></webhook>",
  );
  assertEquals([answer.status, codeOf(answer)], [422, "record_invalid"]);
  assertEquals(
    detailsOf(answer).map(({ line, field, code }) => [line, field, code]),
    [
      ["2", "trigger", "not_in_list"],
      ["3", "url", "bad_url"],
      ["4", "urll", "unknown_element"],
      ["5", "trigger", "repeated_element"],
    ],
  );
  const [trigger, , unknown] = detailsOf(answer);
  assertMatch(trigger.message, /order_creatd.*order_created, order_paid/);
  assertMatch(unknown.message, /<url>/);
  assertEquals(await listed(app), []);
});

bothForms.test("missing and unknown elements of a webhook are refused", async () => {
  await using app = await boot();
  const url = "<url>http://127.0.0.1:9000/</url>";
  const trigger = "<trigger>order_paid</trigger>";
  const cases: [string, string[][]][] = [
    ["<webhook/>", [["trigger", "required"], ["url", "required"]]],
    [`<webhook><trigger> </trigger>${url}</webhook>`, [[
      "trigger",
      "required",
    ]]],
    [`<webhook>${trigger}<url>a<b/></url></webhook>`, [
      ["url/b", "unknown_element"],
      ["url", "bad_url"],
    ]],
    [`<webhook id="1">${trigger}${url}</webhook>`, [[
      "webhook/@id",
      "unknown_attribute",
    ]]],
    [`<webhook>text${trigger}${url}</webhook>`, [[
      "webhook",
      "unexpected_text",
    ]]],
    [`<hook>${trigger}${url}</hook>`, [["hook", "unknown_element"]]],
  ];
  for (const [body, expected] of cases) {
    const answer = await raw(app, body);
    assertEquals(answer.status, 422, body);
    assertEquals(codes(answer).sort(), expected.sort(), body);
  }
  const malformed = await raw(app, "<webhook><trigger>");
  assertEquals([malformed.status, codeOf(malformed)], [400, "malformed_xml"]);
});

bothForms.test("a URL that must not be called is refused at registration", async () => {
  await using app = await boot({ config: { allowPrivate: [] } });
  const cases = {
    "http://127.0.0.1:9000/": "url_blocked",
    "https://localhost/": "url_blocked",
    "https://10.0.0.1/": "url_blocked",
    "https://[::1]/": "url_blocked",
    "https://user:pw@8.8.8.8/": "bad_url",
    "https://8.8.8.8:22/": "bad_url",
    [`https://8.8.8.8/${"a".repeat(2000)}`]: "too_long",
    "https://nothing-here.invalid/": "unresolved",
  };
  for (const [url, code] of Object.entries(cases)) {
    const answer = await post(app, "order_created", url);
    assertEquals(answer.status, 422, url);
    assertEquals(codes(answer), [["url", code]], url);
  }
  assertEquals(
    (await post(app, "order_created", "https://8.8.8.8/")).status,
    200,
  );
});

async function emit(app: TestApp, reference: string): Promise<void> {
  const answer = await app.call("/operator_api/events", {
    method: "POST",
    key: OPERATOR,
    body: "<event><seller>acme</seller><trigger>order_created</trigger>" +
      `<reference>${reference}</reference>` +
      "<data><total>149.00</total></data></event>",
  });
  assertEquals(answer.status, 200, answer.text);
}

contract.test("a seller sees the recent deliveries of a webhook, in pages", async () => {
  await using sink = new WebhookSink(() =>
    new Response("secret words", { status: 500 })
  );
  await using app = await boot({
    config: { roles: ["api", "webhooks"], operatorKey: OPERATOR },
  });
  await post(app, "order_created", sink.url());
  for (const reference of ["1", "2", "3"]) await emit(app, reference);
  const path = `${WEBHOOKS}/order_created/deliveries`;
  await until(async () =>
    (await app.call(path)).text.split("<status>500</status>").length === 4
  );
  const first = await app.call(`${path}?limit=2`);
  const deliveries = first.xml.children[0];
  assertEquals(deliveries.name, "deliveries");
  assertEquals(deliveries.children.length, 2);
  const [delivery] = deliveries.children;
  assertEquals(textAt(delivery, "state"), "retrying");
  assertEquals(textAt(delivery, "attempts/attempt/url"), sink.url());
  assert(Date.parse(textAt(delivery, "next_attempt_at")) > Date.now());
  assert(!first.text.includes("secret words"));
  const rest = await app.call(
    `${path}?limit=2&after=${textAt(first.xml, "next")}`,
  );
  assertEquals(rest.xml.children.length, 1);
  assertEquals(rest.xml.children[0].children.length, 1);

  const named = await app.call(`${path}?reference=2`);
  const [only, ...more] = named.xml.children[0].children;
  assertEquals([textAt(only, "id"), more], [
    textAt(deliveries.children[1], "id"),
    [],
  ]);
  for (
    const query of [
      "reference=2&state=delivered",
      "reference=absent",
      `reference=2&after=${textAt(only, "id")}`,
    ]
  ) {
    const { status, xml } = await app.call(`${path}?${query}`);
    assertEquals([status, xml.children[0].children], [200, []], query);
  }
  assertEquals((await app.call(`${path}?reference=`)).status, 422);
  assertEquals((await app.call(`${path}?limit=0`)).status, 422);
  assertEquals((await app.call(`${path}?after=x`)).status, 422);
  assertEquals(
    (await app.call(`${WEBHOOKS}/order_paid/deliveries`)).status,
    404,
  );
  const other = await app.addSeller("other");
  assertEquals((await app.call(path, { key: other })).status, 404);
});

contract.test("a disabled webhook is listed as disabled until it is registered again", async () => {
  await using sink = new WebhookSink(() => new Response(null, { status: 410 }));
  await using app = await boot({
    config: { roles: ["api", "webhooks"], operatorKey: OPERATOR },
  });
  await post(app, "order_created", sink.url());
  await emit(app, "1");
  await until(async () => (await listed(app))[0].length > 3);
  const [shown] = await listed(app);
  assertMatch(shown[3], /^disabled_at=\d{4}-.*Z$/);
  assertMatch(shown[4], /^failing_since=\d{4}-.*Z$/);
  assertEquals(
    shown[5],
    "last_error=The answer was 410; only 2xx is a success.",
  );
  sink.answering = () => new Response();
  await post(app, "order_created", sink.url());
  assertEquals((await listed(app))[0].length, 3);
  await until(() => sink.received.length === 2);
});

contract.test("a seller gives a webhook its own secret", async () => {
  await using app = await boot();
  const path = `${WEBHOOKS}/order_created/rotate_secret`;
  const missing = await app.call(path, { method: "POST" });
  assertEquals([missing.status, codeOf(missing)], [404, "not_found"]);
  await post(app, "order_created", "http://127.0.0.1:9000/mine");
  const secrets = new Set<string>();
  for (let i = 0; i < 4; i++) {
    const rotated = await app.call(path, { method: "POST" });
    assertEquals(rotated.status, 200, rotated.text);
    secrets.add(textAt(rotated.xml, "webhook_secret"));
  }
  assertEquals(secrets.size, 4);
  for (const secret of secrets) assertMatch(secret, /^whsec_[\w+/]{43}=$/);
  const refused = await app.call(path, { method: "POST" });
  assertEquals([refused.status, codeOf(refused)], [429, "rate_limited"]);
  assert(Number(refused.headers.get("retry-after")) > 86_000);
  const other = await app.addSeller("other");
  assertEquals(
    (await app.call(path, { method: "POST", key: other })).status,
    404,
  );
  const unknown = await app.call(`${WEBHOOKS}/nothing/rotate_secret`, {
    method: "POST",
  });
  assertEquals(unknown.status, 404);
});

contract.test("the list shows since when a webhook has failed and why", async () => {
  await using sink = new WebhookSink();
  sink.answering = () => new Response(null, { status: 503 });
  await using app = await boot({ config: { roles: ["api", "webhooks"] } });
  await post(app, "order_created", sink.url());
  await app.call(`${WEBHOOKS}/order_created/test`, { method: "POST" });
  let shown: string[][] = [];
  await until(async () => {
    shown = await listed(app);
    return shown[0].length > 3;
  }, "a webhook that fails");
  assertMatch(shown[0][3], /^failing_since=\d{4}-.*Z$/);
  assertEquals(
    shown[0][4],
    "last_error=The answer was 503; only 2xx is a success.",
  );
  const url = sink.url();
  await sink[Symbol.asyncDispose]();
  await post(app, "order_paid", url);
  await app.call(`${WEBHOOKS}/order_paid/test`, { method: "POST" });
  await until(async () => {
    shown = await listed(app);
    return shown[1].length > 3;
  }, "one whose host is gone");
  assertEquals(
    shown[1][4],
    "last_error=The host refused the connection, or there is no route to it.",
  );
});
