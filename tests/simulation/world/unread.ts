/** Answers that a seller's own crowds leave unread. */
import { ANSWERS } from "../../../src/http/admission/read_quota.ts";
import { IDLE_MS } from "../../../src/http/server/sending.ts";
import { STOPPED_MS } from "../client.ts";
import type { Scene } from "./actor.ts";
import type { Seller } from "./seller.ts";

/** Readers that stop at the same time, for each process. */
export const STOPPED = 6;

/**
 * How long a read of this seller may wait for answers that its crowds leave
 * unread: all of them may be of one process, which has four at a time, and
 * disconnects who takes nothing for `IDLE_MS`; they leave by themselves, too.
 * A crowd does not wait for itself.
 */
export function heldUpMs(
  { world }: Scene,
  { plan }: Seller,
  who: string,
): number {
  const stops = world.steps.some(({ actor, kind }) =>
    actor !== who && kind === "stopped readers" &&
    actor.startsWith(`${plan.name}/crowd`)
  );
  const turns = Math.ceil(STOPPED * world.processes.length / ANSWERS);
  return stops ? Math.min(turns * IDLE_MS, STOPPED_MS) : 0;
}
