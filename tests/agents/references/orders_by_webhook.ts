import {
  createClient,
  verifyWebhook,
} from "../../../src/client/dist/client.js";

const client = createClient({
  url: Deno.env.get("BASE_URL")!,
  key: Deno.env.get("API_KEY")!,
});

const secret = Deno.env.get("WEBHOOK_SECRET")!;
const known = new Set<string>();
try {
  const text = await Deno.readTextFile("orders.txt");
  for (const line of text.split("\n")) known.add(line.split(" ")[1]);
} catch {
  // The first start.
}
const port = Number(Deno.env.get("PORT"));
Deno.serve({ hostname: "127.0.0.1", port }, async (request) => {
  const body = await request.text();
  try {
    const { id, trigger } = await verifyWebhook({
      secret,
      headers: request.headers,
      body,
    });
    if (!known.has(id)) {
      known.add(id);
      Deno.writeTextFileSync("orders.txt", `${trigger} ${id}\n`, {
        append: true,
      });
    }
    return new Response();
  } catch {
    return new Response(null, { status: 401 });
  }
});
const url = Deno.env.get("HOOK_URL")!;
for (const trigger of ["order_created", "order_paid"] as const) {
  await client.webhooks.create({ webhook: { trigger, url } });
}
