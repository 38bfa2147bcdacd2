/** A short run of `deno task model`, on both engines and with kills. */
import { boot } from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";
import { Random, seedFrom } from "../support/random.ts";
import { OPERATOR, Service } from "../processes/service.ts";
import { Run } from "./run.ts";

const seed = seedFrom(Deno.env.get("MODEL_SEED"));

bothEngines.test("random changes and undos have the results of the model", async () => {
  console.log(`MODEL_SEED=${seed}`);
  await using app = await boot({ config: { operatorKey: OPERATOR } });
  const { url, key } = app;
  const run = new Run(new Random(seed), {
    url,
    key,
    operatorKey: OPERATOR,
    allShown: () => app.allShown(),
  });
  for (let i = 0; i < 50; i++) await run.step();
  await run.finish();
});

Deno.test("random changes and undos have the results of the model, through kills", async () => {
  console.log(`MODEL_SEED=${seed}`);
  const folder = await Deno.makeTempDir();
  await using service = await Service.start(folder);
  const targetOf = () => ({
    url: service.url,
    key: service.keys.get("acme")!,
    operatorKey: OPERATOR,
  });
  const run = new Run(new Random(seed), targetOf());
  for (let i = 0; i < 25; i++) await run.step();
  await run.stepThrough(() => service.kill(), async () => {
    await service.start();
    return targetOf();
  });
  for (let i = 0; i < 25; i++) await run.step();
  await run.finish();
});
