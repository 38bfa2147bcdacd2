/** The page remembers the columns that somebody chose. */
import { assertEquals, assertNotEquals } from "@std/assert";
import type { Client } from "../../../../src/client/mod.ts";
import {
  MAPPING_BYTES,
  MAPPINGS_LIMIT,
} from "../../../../src/sellers/mappings.ts";
import {
  chosenFor,
  keepChosen,
  NOTHING_CHOSEN,
} from "../../../../src/web/import/columns/mappings.ts";
import { boot } from "../../../support/app.ts";

const HEADER = ["SKU", "Price"];

/** Stores as many mappings of other tables as are kept. */
async function fill(client: Client): Promise<void> {
  for (let i = 0; i < MAPPINGS_LIMIT; i++) {
    const mapping = { columns: [], values: [] };
    await client.mappings.put({ name: `m${i}`, mapping });
  }
}

async function namesIn(client: Client): Promise<Set<string>> {
  const { mappings } = await client.mappings.list();
  return new Set(mappings.map(({ name }) => name));
}

Deno.test("stored mappings: at the limit the oldest are deleted", async () => {
  await using app = await boot();
  const client = app.client();
  await fill(client);
  const before = await namesIn(client);
  const chosen = { ...NOTHING_CHOSEN, targets: { Price: "compare_at_price" } };
  await keepChosen(client, HEADER, chosen);
  const after = await namesIn(client);
  assertEquals(after.size, MAPPINGS_LIMIT);
  assertEquals(before.difference(after).size, 1);
  const { targets } = await chosenFor(client, HEADER);
  assertEquals(targets, chosen.targets);
});

Deno.test("stored mappings: other errors delete none", async () => {
  await using app = await boot();
  const client = app.client();
  await fill(client);
  const before = await namesIn(client);
  assertNotEquals(before.size, 0);
  const tooLong = "x".repeat(MAPPING_BYTES);
  await keepChosen(client, [...HEADER, tooLong], {
    ...NOTHING_CHOSEN,
    targets: { [tooLong]: "title" },
  });
  const cannotWrite = {
    ...client,
    mappings: {
      ...client.mappings,
      put: () =>
        client.mappings.get({ name: "absent" }) as unknown as ReturnType<
          Client["mappings"]["put"]
        >,
    },
  };
  await keepChosen(cannotWrite, HEADER, NOTHING_CHOSEN);
  assertEquals(await namesIn(client), before);
});
