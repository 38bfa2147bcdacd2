import { createClient } from "../../../src/client/dist/client.js";

const client = createClient({
  url: Deno.env.get("BASE_URL")!,
  key: Deno.env.get("API_KEY")!,
});

const products = await Deno.readTextFile("catalogue.xml");
const begun = await client.imports.create({
  products,
  dry_run: true,
  accept: "valid",
});
const { products: checked } = await client.imports.waitFor(begun);
const { created, updated, refused = 0 } = checked;
console.log(`check: ${created} new, ${updated} changed, ${refused} refused`);
if (refused > 10) Deno.exit(1);
await client.imports.store(begun);
const { products: stored } = await client.imports.waitFor(begun);
await Deno.writeTextFile("refused.xml", await client.imports.refused(begun));
console.log(`stored: ${stored.created + stored.updated}`);
