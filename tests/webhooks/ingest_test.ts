import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  type Answer,
  boot,
  codeOf,
  detailsOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { TestClock, until } from "../support/clock.ts";
import { markRemoved } from "../../src/sellers/seller_rows.ts";
import { gate, WebhookSink } from "../support/webhook_sink.ts";
import { bothEngines } from "../support/engine.ts";
import { bothForms, contract } from "../support/forms.ts";

const KEY = "the operator's key";
const PATH = "/operator_api/events";
const encoder = new TextEncoder();

function start(): Promise<TestApp> {
  return boot({ config: { roles: ["api", "webhooks"], operatorKey: KEY } });
}

function send(
  app: TestApp,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<Answer> {
  return app.call(PATH, { method: "POST", key: KEY, body });
}

let references = 0;

function event(data: string, reference = `order-${++references}`): string {
  return "<event><seller>acme</seller><trigger>order_created</trigger>" +
    `<reference>${reference}</reference>${data}</event>`;
}

async function register(
  app: TestApp,
  sink: WebhookSink,
  trigger = "order_created",
): Promise<void> {
  const { status, text } = await app.call("/seller_api/webhooks", {
    method: "POST",
    body:
      `<webhook><trigger>${trigger}</trigger><url>${sink.url()}</url></webhook>`,
  });
  assertEquals(status, 200, text);
}

function count(app: TestApp, table: string): Promise<number> {
  return app.app.db.read(async (sql) => {
    const row = await sql.get<{ n: number }>(
      `SELECT COUNT(*) AS n FROM ${table}`,
    );
    return row!.n;
  });
}

contract.test("an event is answered with its id and delivered once", async () => {
  await using sink = new WebhookSink();
  await using app = await start();
  await register(app, sink);
  const answer = await send(app, event("<data><order/></data>", "order-1"));
  assertEquals(answer.status, 200);
  const id = textAt(answer.xml, "event_id");
  assertEquals(
    answer.text,
    '<?xml version="1.0" encoding="UTF-8"?>' +
      `<service><event_id>${id}</event_id></service>`,
  );
  const again = await send(app, event("<data><order/></data>", "order-1"));
  assertEquals(again.text, answer.text);
  const another = await send(app, event("", "order-2"));
  await until(() => sink.received.length === 2);
  await new Promise((done) => setTimeout(done, 20));
  assertEquals(
    sink.received.map(({ headers }) => headers.get("webhook-id")).sort(),
    [id, textAt(another.xml, "event_id")].sort(),
  );
});

bothEngines.test("the content of <data> arrives byte for byte", async () => {
  await using sink = new WebhookSink();
  await using app = await start();
  await register(app, sink);
  const fragments = [
    "",
    "plain text",
    "<a><![CDATA[ 1 < 2 & ]] > ]]></a>",
    "<a>&lt;&#x1F600;&#13;&amp;</a>",
    '<a b=\'1>2\' c="\'&quot;"  d = "x"\n/>',
    "<!-- a > comment & <data> </data> --><a/>",
    '<p:a xmlns:p="urn:p" p:b="1"><p:c xml:lang="sv">å✓😀</p:c></p:a>',
    '<a xmlns="urn:a"><b xmlns=""/></a>',
    "\r\n  <a>\r\n</a>\r\n",
    "<data>within <data/> data</data>",
    "\ufeff<a/>",
  ];
  const variants: [string, (document: string) => string][] = [
    ["as it is", (document) => document],
    ["with a byte order mark", (document) => `\ufeff${document}`],
    [
      "with a declaration",
      (document) => `<?xml version="1.0" encoding="UTF-8"?>\r\n${document}\n`,
    ],
    [
      "with odd white space",
      (document) =>
        document.replace(/<data>([^]*)<\/data>/, "<data\n >$1</data\t>"),
    ],
  ];
  for (const [name, vary] of variants) {
    for (const fragment of fragments) {
      const answer = await send(app, vary(event(`<data>${fragment}</data>`)));
      assertEquals(answer.status, 200, `${name}: ${fragment}: ${answer.text}`);
      const id = textAt(answer.xml, "event_id");
      const delivered = () =>
        sink.received.find(({ headers }) => headers.get("webhook-id") === id);
      await until(() => delivered() !== undefined);
      const expected = encoder.encode(`<data>${fragment}</data></event>`);
      assertEquals(
        delivered()!.body.slice(-expected.length),
        expected,
        `${name}: ${fragment}`,
      );
    }
  }
  for (const empty of ["<data/>", "<data ></data>", ""]) {
    const answer = await send(app, event(empty));
    const id = textAt(answer.xml, "event_id");
    await until(() =>
      sink.received.some(({ text }) =>
        text.includes(id) && text.endsWith("<data></data></event>")
      )
    );
  }
});

contract.test("an event for a removed seller is refused before its rows are deleted", async () => {
  const { opened, open } = gate();
  let prepared = 0;
  const maybe = async (place: string) => {
    if (place === "event prepared") {
      prepared++;
      open();
    }
    if (place === "removed_sellers portion done") await opened;
  };
  await using app = await boot({
    config: { roles: ["api"], operatorKey: KEY },
    deps: { clock: new TestClock(), maybe },
  });
  // The job must end before the app is closed.
  using _ = { [Symbol.dispose]: open };
  assertEquals((await app.upload(product("A"))).status, 200);
  await app.app.db.write((tx) =>
    markRemoved(tx, { id: app.sellerId, no: app.sellerNo })
  );
  for (const seller of ["acme", app.sellerId]) {
    const answer = await send(app, event("<data/>").replace("acme", seller));
    assertEquals(answer.status, 422, answer.text);
    assertEquals(detailsOf(answer).map(({ field }) => field), ["seller"]);
  }
  assertEquals(prepared, 0);
});

contract.test("an event without a webhook is recorded, never delivered later", async () => {
  await using sink = new WebhookSink();
  await using app = await start();
  const answer = await send(app, event("<data/>", "order-1"));
  assertEquals(answer.status, 200);
  assertEquals(textAt(answer.xml, "delivery"), "none");
  await register(app, sink);
  assertEquals((await send(app, event("", "order-1"))).text, answer.text);
  await send(app, event("", "order-2"));
  await until(() => sink.received.length === 1);
  assertEquals([await count(app, "events"), await count(app, "deliveries")], [
    2,
    1,
  ]);
});

contract.test("equal references at the same moment are one event", async () => {
  await using sink = new WebhookSink();
  await using app = await start();
  await register(app, sink);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => send(app, event("", "order-1"))),
  );
  assertEquals(new Set(answers.map(({ text }) => text)).size, 1);
  assertEquals([await count(app, "events"), await count(app, "deliveries")], [
    1,
    1,
  ]);
});

bothForms.test("all problems of an event are reported at once", async () => {
  await using app = await start();
  const answer = await send(
    app,
    "<event>\n<seller>nobody</seller>\n<trigger>order_made</trigger>\n" +
      `<reference>${"x".repeat(256)}</reference>\n<when/></event>`,
  );
  assertEquals([answer.status, codeOf(answer)], [422, "record_invalid"]);
  assertEquals(
    detailsOf(answer).map(({ line, field, code }) => [line, field, code]),
    [
      ["2", "seller", "not_in_list"],
      ["3", "trigger", "not_in_list"],
      ["4", "reference", "too_long"],
      ["5", "when", "unknown_element"],
    ],
  );
  const missing = await send(app, "<event><reference> </reference></event>");
  assertEquals(
    detailsOf(missing).map(({ field, code }) => [field, code]),
    [["seller", "required"], ["trigger", "required"], [
      "reference",
      "required",
    ]],
  );
  assertEquals(await count(app, "events"), 0);
});

Deno.test("data that other parsers would read differently is refused", async () => {
  await using app = await start();
  const nested = (depth: number) => "<a>".repeat(depth) + "</a>".repeat(depth);
  const refused = [
    "<data><p:a/></data>",
    "<data>\n <a p:b='1'/></data>",
    "<data><a xmlns:p=''/></data>",
    "<data><a:b:c xmlns:a='urn:a'/></data>",
    "<data><a xmlns:p='urn:x' xmlns:q='urn:x' p:b='' q:b=''/></data>",
    "<data><?pi ?></data>",
    "<data><a></data>",
    "<data>a & b</data>",
    `<data>${nested(65)}</data>`,
  ];
  for (const data of refused) {
    const answer = await send(app, event(data));
    assertEquals([answer.status, codeOf(answer)], [400, "malformed_xml"], data);
    const [{ line, column }] = detailsOf(answer);
    assert(Number(line) >= 1 && Number(column) >= 1, data);
  }
  const [place] = detailsOf(await send(app, event(refused[1])));
  assertEquals([place.line, place.column], ["2", "2"]);
  assertMatch(place.message, /xmlns:p/);
  const outside = await send(
    app,
    event("<data><p:a/></data>").replace("<event>", "<event xmlns:p='urn:p'>"),
  );
  assertEquals(outside.status, 400);
  const attribute = await send(app, event("<data xmlns='urn:a'><b/></data>"));
  assertEquals(detailsOf(attribute)[0].code, "unknown_attribute");
  assertEquals(
    (await send(app, event(`<data>${nested(64)}</data>`))).status,
    200,
  );
});

bothEngines.test("an event of more than 256 KiB is refused", async () => {
  await using app = await start();
  const room = 256 * 1024 - event("<data></data>", "large").length;
  const fits = event(`<data>${"x".repeat(room)}</data>`, "large");
  assertEquals((await send(app, fits)).status, 200);
  const over = await send(app, fits + " ");
  assertEquals([over.status, codeOf(over)], [413, "body_too_large"]);
});

bothForms.test("the operator's key is checked before anything else", async () => {
  await using app = await start();
  for (const key of [null, "", "wrong", app.key]) {
    const answer = await app.call(PATH, {
      method: "POST",
      key,
      body: "not XML",
    });
    assertEquals([answer.status, codeOf(answer)], [401, "unauthorized"]);
  }
  assertEquals((await app.call(PATH, { key: KEY })).status, 405);
});

bothForms.test("without an operator key there is no operator API", async () => {
  await using app = await boot();
  const answer = await send(app, event(""));
  assertEquals([answer.status, codeOf(answer)], [404, "not_found"]);
});

contract.test("bulk uploads and attribute updates create no event", async () => {
  await using sink = new WebhookSink();
  await using app = await start();
  for (
    const trigger of ["order_created", "product_approved", "product_rejected"]
  ) {
    await register(app, sink, trigger);
  }
  const outcomes = [
    await app.upload(product("A-1")),
    await app.upload(product("A-1")),
    await app.upload(product("A-1", "<brand>x</brand>")),
    await app.upload(product("A-2"), "&dry_run=true"),
    await app.upload(product("A-3", "<gtin>1</gtin>")),
    await app.upload("<product/>"),
    await app.upload("<product>"),
    await app.call("/seller_api/products/A-1/attribute/quantity/0", {
      method: "PUT",
    }),
  ];
  assertEquals(
    outcomes.map(({ status }) => status),
    [200, 200, 200, 200, 422, 422, 400, 204],
  );
  assertEquals([await count(app, "events"), await count(app, "deliveries")], [
    0,
    0,
  ]);
  assertEquals(sink.received.length, 0);
});

contract.test("no module of bulk uploads can reach the store of events", async () => {
  const root = new URL("../../src/", import.meta.url);
  const reached = new Set<string>();
  const follow = async (url: URL): Promise<void> => {
    if (reached.has(url.pathname)) return;
    reached.add(url.pathname);
    const text = await Deno.readTextFile(url);
    for (const [, path] of text.matchAll(/from "(\.[^"]+\.ts)"/g)) {
      await follow(new URL(path, url));
    }
  };
  for (
    const entry of [
      "catalogue/upload.ts",
      "catalogue/attribute.ts",
      "images/worker/role.ts",
    ]
  ) {
    await follow(new URL(entry, root));
  }
  assert(reached.size > 10);
  for (
    const file of [
      "webhooks/rows/events.ts",
      "webhooks/ingest.ts",
      "webhooks/rows/queue.ts",
    ]
  ) {
    assert(!reached.has(new URL(file, root).pathname), file);
  }
  const writers: string[] = [];
  const search = async (folder: URL): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      if (isDirectory) await search(new URL(`${name}/`, folder));
      else if (
        /INSERT INTO events/.test(
          await Deno.readTextFile(new URL(name, folder)),
        )
      ) {
        writers.push(name);
      }
    }
  };
  await search(root);
  assertEquals(writers, ["events.ts"]);
});
