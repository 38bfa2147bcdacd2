/** The event `import_finished`: one for each end of an import. */
import { assertEquals } from "@std/assert";
import { boot, product, type TestApp, textAt } from "../support/app.ts";
import { inTime, RunningClock, until } from "../support/clock.ts";
import { bothEngines } from "../support/engine.ts";
import { Host } from "../support/host.ts";
import { ImageHost } from "../support/image_host.ts";
import { WebhookSink } from "../support/webhook_sink.ts";
import { ended, idOf, IMPORTS, post, products } from "./calls.ts";

interface FinishedEvent {
  trigger: string;
  data: {
    import: {
      import_id: string;
      name?: string;
      status: string;
      dry_run?: boolean;
      products: Record<string, number>;
    };
  };
}

/** The seller's events, in order. */
async function eventsOf(
  app: TestApp,
  query = "",
): Promise<FinishedEvent["data"]["import"][]> {
  const answer = await app.call(`/seller_api/events?limit=100${query}`, {
    headers: { Accept: "application/json" },
  });
  assertEquals(answer.status, 200, answer.text);
  const { events } = JSON.parse(answer.text);
  return events.map(({ trigger, data }: FinishedEvent) => {
    assertEquals(trigger, "import_finished");
    return data.import;
  });
}

async function endOf(app: TestApp, document: string, query = "") {
  const id = idOf(await post(app, document, query));
  await ended(app, id);
  return id;
}

bothEngines.test("each end of an import is one event, with the counts of its status", async () => {
  await using sink = new WebhookSink();
  await using app = await boot({ config: { roles: ["api", "webhooks"] } });
  await app.call("/seller_api/webhooks", {
    method: "POST",
    body: "<webhook><trigger>import_finished</trigger>" +
      `<url>${sink.url()}</url></webhook>`,
  });
  const all = await endOf(app, products(300), "&name=all.xml");
  const wrong = await endOf(app, products(2) + product("S-1"));
  const some = await endOf(
    app,
    product("N") + product("N"),
    "&accept=valid",
  );
  const tried = await endOf(app, products(1), "&dry_run=true");
  const undone = idOf(
    await app.call(`${IMPORTS}/${some}/undo`, { method: "POST" }),
  );
  await ended(app, undone);
  const counts = { total: 0, created: 0, updated: 0, unchanged: 0 };
  assertEquals(await eventsOf(app), [
    {
      import_id: all,
      name: "all.xml",
      status: "completed",
      products: { ...counts, total: 300, created: 300 },
    },
    {
      import_id: wrong,
      status: "refused",
      products: { ...counts, total: 3, refused: 1 },
    },
    {
      import_id: some,
      status: "completed_with_errors",
      products: { ...counts, total: 2, created: 1, refused: 1 },
    },
    {
      import_id: tried,
      status: "completed",
      dry_run: true,
      products: { ...counts, total: 1, unchanged: 1 },
    },
    {
      import_id: undone,
      status: "completed",
      products: { ...counts, total: 1, deleted: 1 },
    },
  ]);
  const [one] = await eventsOf(app, `&reference=${wrong}`);
  assertEquals(one.status, "refused");
  await until(() => sink.received.length === 5, "the deliveries");
  const inXml = sink.received.map(({ text }) => text)
    .find((text) => text.includes(all))!;
  assertEquals(
    /<data>(.*)<\/data>/.exec(inXml)![1],
    `<import><import_id>${all}</import_id><name>all.xml</name>` +
      "<status>completed</status><products><total>300</total>" +
      "<created>300</created><updated>0</updated><unchanged>0</unchanged>" +
      "</products></import>",
  );
});

bothEngines.test("a dry run that is stored ends twice", async () => {
  await using app = await boot();
  const id = await endOf(app, products(2), "&dry_run=true");
  await app.call(`${IMPORTS}/${id}/store`, { method: "POST" });
  await ended(app, id);
  const events = await eventsOf(app);
  assertEquals(
    events.map(({ import_id, dry_run }) => [import_id, dry_run]),
    [[id, true], [id, undefined]],
  );
  assertEquals((await eventsOf(app, `&reference=${id}-stored`)).length, 1);
});

bothEngines.test("an import with images ends once, with its last image", async () => {
  const gate = Promise.withResolvers<void>();
  await using host = new ImageHost();
  await using app = await boot({ config: { roles: ["api", "images"] } });
  host.answers.set("/slow/a.png", async (request) => {
    if (request.method === "GET") await gate.promise;
    return await fetch(`${host.url}/good/a.png`, { method: request.method });
  });
  const image = (path: string) =>
    `<images><image>${host.url}${path}</image></images>`;
  const document = product("A", image("/slow/a.png")) +
    product("B", image("/gone/b.png"));
  const id = idOf(await post(app, document));
  await until(async () => {
    const { text } = await app.call(`${IMPORTS}/${id}`);
    return /<failed>1</.test(text) && /<status>images</.test(text);
  }, "the other image");
  assertEquals(await eventsOf(app), []);
  gate.resolve();
  await ended(app, id);
  const [{ status, import_id }, ...more] = await eventsOf(app);
  assertEquals([status, import_id, more], ["completed_with_errors", id, []]);

  host.answers.set("/gone/b.png", () => fetch(`${host.url}/good/b.png`));
  await app.call(`${IMPORTS}/${id}/images/retry`, { method: "POST" });
  await ended(app, id);
  assertEquals((await eventsOf(app)).length, 1, "a retry is no other end");
});

bothEngines.test("imports whose images settle while they end each end once", async () => {
  await using host = new ImageHost();
  await using app = await boot({ config: { roles: ["api", "images"] } });
  const ids: string[] = [];
  for (let n = 0; n < 12; n++) {
    // The image of the first part is often settled before the last part is
    // stored.
    const first = product(
      `I-${n}`,
      `<images><image>${host.url}/good/${n}.png</image></images>`,
    );
    ids.push(idOf(await post(app, first + products(250, 1_000 * n))));
  }
  for (const id of ids) await ended(app, id);
  const events = await eventsOf(app);
  assertEquals(
    events.map(({ import_id }) => import_id).sort(),
    ids.toSorted(),
  );
});

bothEngines.test("the image checks of a cancelled import end at once", async () => {
  const gate = Promise.withResolvers<void>();
  await using host = new Host(async () => {
    await gate.promise;
    return new Response();
  });
  using clock = new RunningClock();
  await using app = await boot({ deps: { clock } });
  const image = `<images><image>${host.url}/a</image></images>`;
  const id = idOf(await post(app, product("H", image)));
  await until(() => host.seen.length > 0, "the HEAD");
  // No HEAD times out.
  clock.speed = 0;
  try {
    const next = idOf(await post(app, product("N")));
    await app.call(`${IMPORTS}/${id}`, { method: "DELETE" });
    const record = await inTime(ended(app, next), "the next import");
    assertEquals(textAt(record, "status"), "completed");
    assertEquals(app.app.holders.inUse()["outbound.requests"], undefined);
  } finally {
    clock.speed = 1;
    gate.resolve();
  }
});

bothEngines.test("a cancelled import has ended", async () => {
  const gate = Promise.withResolvers<void>();
  await using host = new Host(async () => {
    await gate.promise;
    return new Response();
  });
  await using app = await boot();
  const image = `<images><image>${host.url}/a</image></images>`;
  const id = idOf(await post(app, product("H", image)));
  await until(() => host.seen.length > 0, "the HEAD");
  await app.call(`${IMPORTS}/${id}`, { method: "DELETE" });
  gate.resolve();
  const events = await eventsOf(app);
  assertEquals(
    events.map(({ import_id, status }) => [import_id, status]),
    [[id, "cancelled"]],
  );
});
