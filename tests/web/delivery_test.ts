/** What the page shows of deliveries and queues. */
import { assertEquals } from "@std/assert";
import { Webhook } from "standardwebhooks";
import { signWebhook } from "../../src/client/mod.ts";
import { asCurl } from "../../src/web/curl.ts";
import { readQueues } from "../../src/web/queues.ts";

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
    asCurl("https://a.example/", { "webhook-id": "1" }, "it's"),
    "curl -i 'https://a.example/' \\\n" +
      "  -H 'Content-Type: text/xml; charset=utf-8' \\\n" +
      "  -H 'webhook-id: 1' \\\n  --data-binary 'it'\\''s'",
  );
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
