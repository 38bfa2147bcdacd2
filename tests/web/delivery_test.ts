/** What the page shows of deliveries. */
import { assert, assertEquals } from "@std/assert";
import { Webhook } from "standardwebhooks";
import { signWebhook } from "../../src/client/mod.ts";
import { curlCommand } from "../../src/web/webhooks/curl.ts";
import { loadEvent, testEventBody } from "../../src/web/webhooks/events.ts";
import * as delivered from "../../src/webhooks/event.ts";
import { boot, textAt } from "../support/app.ts";

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

Deno.test("a request is shown as a shell command", () => {
  assertEquals(
    curlCommand("https://a.example/", { "webhook-id": "1" }, "it's", "xml"),
    "curl -i 'https://a.example/' \\\n" +
      "  -H 'Content-Type: text/xml; charset=utf-8' \\\n" +
      "  -H 'webhook-id: 1' \\\n  --data-binary 'it'\\''s'",
  );
});

Deno.test("an event is shown as delivered, and never another one", async () => {
  await using app = await boot({ config: { operatorKey: "op" } });
  const post = async (reference: string) => {
    const answer = await app.call("/operator_api/events", {
      method: "POST",
      key: "op",
      body: `<event><seller>acme</seller><trigger>order_paid</trigger>` +
        `<reference>${reference}</reference><data><no>${reference}</no></data></event>`,
    });
    return textAt(answer.xml, "event_id");
  };
  const [, id] = [await post("1"), await post("2"), await post("3")];
  const client = app.client();
  const { signal } = new AbortController();
  const load = (id: string, format: "xml" | "json") =>
    loadEvent(client, id, format, signal);
  const xml = (await load(id, "xml"))!;
  assertEquals(xml.slice(0, 50), `<event><id>${id}</id>`.slice(0, 50));
  assert(xml.endsWith("<data><no>2</no></data></event>"), xml);
  assertEquals(JSON.parse((await load(id, "json"))!).data, { no: "2" });
  const other = "01a1f8a9-54fb-75a4-9674-000000000003";
  assertEquals(await load(other, "xml"), null);
  assertEquals(await load(other, "json"), null);
});

Deno.test("a test event is shown as delivered", () => {
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
