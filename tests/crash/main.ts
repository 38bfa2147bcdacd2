/**
 * `deno task crash [KILLS] [SEED]`: kills the service, 100 times by default.
 */
import { seedFrom } from "../support/random.ts";
import { checkSometimes } from "../support/sometimes.ts";
import { crash } from "./crash.ts";

/** Leases of dead processes last 15 s, and a backlog takes some time. */
const SETTLE_MS = 120_000;

const kills = Number(Deno.args[0] ?? "100");
const seed = seedFrom(Deno.args[1]);
console.log(`seed ${seed}, ${kills} kills`);
const figures = await crash({
  kills,
  seed,
  settleMs: SETTLE_MS,
  progress: (kill) => {
    if (kill % 10 === 0) console.log(`${kill} kills survived`);
  },
});
console.log(
  `survived ${kills} kills with nothing lost: ` +
    `${figures.uploads} uploads, ${figures.updates} attribute updates and ` +
    `${figures.events} events acknowledged, ${figures.imagesStored} images stored, ` +
    `${figures.repeated} deliveries repeated under their id`,
);
Deno.exit(checkSometimes("crash", kills) ? 0 : 1);
