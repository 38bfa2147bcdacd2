import { createClient } from "../../../src/client/dist/client.js";

const client = createClient({
  url: Deno.env.get("BASE_URL")!,
  key: Deno.env.get("API_KEY")!,
});

async function read(name: string): Promise<string> {
  try {
    return await Deno.readTextFile(name);
  } catch {
    return "";
  }
}

const known = new Set((await read("events.log")).split("\n"));
let after = await read("cursor.txt") || undefined;
for (;;) {
  const { events, next } = await client.events.list({ after, limit: 250 });
  for (const { id, trigger } of events) {
    const line = `${id} ${trigger}`;
    if (known.has(line)) continue;
    await Deno.writeTextFile("events.log", `${line}\n`, { append: true });
  }
  after = next;
  await Deno.writeTextFile("cursor.txt", after!);
  if (events.length === 0) break;
}
