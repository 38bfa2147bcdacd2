/** The same history has the same answers on both engines. */
import { ownServer } from "../support/postgres.ts";
import { seedFrom } from "../support/random.ts";
import { TwinHistory } from "./engines.ts";

const server = await ownServer();

Deno.test("both engines give the same answer to every request", async () => {
  const first = seedFrom(Deno.env.get("MODEL_SEED"));
  for (let seed = first; seed < first + 2; seed++) {
    console.log(`MODEL_SEED=${seed}`);
    await using history = await TwinHistory.open(seed, await server.database());
    await history.run(60);
  }
});
