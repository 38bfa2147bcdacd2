/** How long reads of a seller may take, also beside its own crowds. */
import { ANSWERS } from "../../../src/http/admission/read_limiter.ts";
import { IDLE_MS } from "../../../src/http/server/sending.ts";
import { STOPPED_MS } from "../client.ts";
import type { Scene } from "./actor.ts";
import type { Seller } from "./seller.ts";

/** While nothing fails. */
export const READ_MS = 15_000;
/** Where it waits for other requests of the seller. */
const BESIDE_CROWD_MS = 30_000;

/** Readers that stop at the same time, for each process. */
export const STOPPED = 6;

/**
 * How long a read of this seller may take. Answers that its crowds leave unread
 * may all be of one process, which has four at a time, and disconnects who takes
 * nothing for `IDLE_MS`; they leave by themselves, too. A crowd does not wait
 * for itself.
 */
export function readMs(
  { world }: Scene,
  { plan }: Seller,
  who: string,
): number {
  const crowds = world.steps.filter(({ actor }) =>
    actor.startsWith(`${plan.name}/crowd`)
  );
  const stops = crowds.some(({ actor, kind }) =>
    actor !== who && kind === "stopped readers"
  );
  const turns = Math.ceil(STOPPED * world.processes.length / ANSWERS);
  return (crowds.length > 0 ? BESIDE_CROWD_MS : READ_MS) +
    (stops ? Math.min(turns * IDLE_MS, STOPPED_MS) : 0);
}
