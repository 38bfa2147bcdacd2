/** What the page shows of deliveries and queues. */
import { assertEquals } from "@std/assert";
import { Webhook } from "standardwebhooks";
import { createClient, signWebhook } from "../../src/client/mod.ts";
import { asCurl } from "../../src/web/webhooks/curl.ts";
import { loadEvent, testEventBody } from "../../src/web/webhooks/events.ts";
import { readQueues } from "../../src/web/operator/queues.ts";
import * as delivered from "../../src/webhooks/event.ts";

const SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

Deno.test("a delivery is signed as Standard Webhooks defines it", async () => {
  const timestamp = 1_795_248_000;
  const body = "<event>é</event>";
  const { "webhook-signature": signature } = await signWebhook(
    SECRET,
    "id",
    timestamp,
    body,
  );
  const at = new Date(timestamp * 1_000);
  assertEquals(signature, new Webhook(SECRET).sign("id", at, body));
});

Deno.test("a request is written for a shell", () => {
  assertEquals(
    asCurl("https://a.example/", { "webhook-id": "1" }, "it's", "xml"),
    "curl -i 'https://a.example/' \\\n" +
      "  -H 'Content-Type: text/xml; charset=utf-8' \\\n" +
      "  -H 'webhook-id: 1' \\\n  --data-binary 'it'\\''s'",
  );
});

function eventInXml(id: string, no: number): string {
  return `<event><id>${id}</id><trigger>order_paid</trigger>` +
    "<created_at>2026-11-20T08:00:00.000Z</created_at>" +
    `<data><event><id>${no}</id></event></data></event>`;
}

Deno.test("an event is looked for in the feed, and no other is shown for it", async () => {
  /** Looks for the event with this number in a feed of so many. */
  const look = async (
    wanted: number,
    length: number,
    format: "xml" | "json",
  ) => {
    const idOf = (no: number) =>
      `01a1f8a9-54fb-75a4-9674-${`${no}`.padStart(12, "0")}`;
    const fetch = (url: string, init: RequestInit) => {
      const no = 2 * Number(/after=(\d+)/.exec(url)?.[1] ?? 0) + 1;
      const nos = [no, no + 1].filter((no) => no <= length);
      const next = `${Math.min((no + 1) / 2, Math.ceil(length / 2))}`;
      const events = nos.map((no) => ({ id: idOf(no), data: { no } }));
      const isXml = new Headers(init.headers).get("Accept") === "text/xml";
      const xml = nos.map((no) => eventInXml(idOf(no), no)).join("");
      return Promise.resolve(
        new Response(
          isXml
            ? `<service><events>${xml}</events><next>${next}</next></service>`
            : JSON.stringify({ events, next }),
        ),
      );
    };
    const client = createClient({ key: "key", fetch });
    const { signal } = new AbortController();
    const found = await loadEvent(
      client,
      "order_paid",
      idOf(wanted),
      format,
      signal,
    );
    return typeof found === "string" ? found : found.body;
  };
  const id = "01a1f8a9-54fb-75a4-9674-000000000003";
  for (const length of [3, 4, 5]) {
    assertEquals(await look(3, length, "xml"), eventInXml(id, 3));
    assertEquals(
      await look(3, length, "json"),
      `{"id":"${id}","data":{"no":3}}`,
    );
  }
  assertEquals(await look(6, 5, "xml"), "absent");
  assertEquals(await look(41, 60, "json"), "far");
});

Deno.test("a test event is shown as it is delivered", () => {
  const event = {
    test: true,
    id: "01a1f8a9-54fb-75a4-9674-000000000003",
    trigger: "order_paid",
    created_at: "2026-11-20T08:00:00.000Z",
  } as const;
  const createdAt = Date.parse(event.created_at);
  const data = { xml: "" };
  const sent = delivered.eventBody({ ...event, data, createdAt });
  assertEquals(testEventBody(event, "xml"), new TextDecoder().decode(sent));
  assertEquals(testEventBody(event, "json"), delivered.eventInJson(sent));
});

Deno.test("queues are read from the metrics", () => {
  const metrics = [
    "# TYPE seller_queue gauge",
    'seller_queue{queue="images",state="waiting"} 4',
    'seller_queue{state="in_flight",queue="images"} 1',
    'seller_queue_oldest_due_seconds{queue="images"} 2.5',
    'seller_queue_moved_timestamp_seconds{queue="images"} 1.7e9',
    "seller_other 1",
  ].join("\n");
  assertEquals(readQueues(metrics), [{
    name: "images",
    states: { waiting: 4, in_flight: 1 },
    oldestSeconds: 2.5,
  }]);
});
