/** How long reads of a seller may take, including during its own crowds. */
import { ANSWERS_PER_OWNER } from "../../../src/http/admission/read_limiter.ts";
import { IDLE_MS } from "../../../src/http/server/sending.ts";
import { STOPPED_MS } from "../client.ts";
import type { Scene } from "./actor.ts";
import type { Seller } from "./seller.ts";

/** The limit while nothing fails. */
export const READ_MS = 15_000;
/** The limit if it waits for other requests of the seller. */
const BESIDE_CROWD_MS = 30_000;

/** Readers that stop at the same time, for each process. */
export const STOPPED = 6;

/**
 * How long a read of this seller may take. All answers that its crowds leave
 * unread may be of one process, which allows four at a time and disconnects a
 * reader that takes nothing for `IDLE_MS`; readers also leave by themselves. A
 * crowd does not wait for itself.
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
  const turns = Math.ceil(STOPPED * world.processes.length / ANSWERS_PER_OWNER);
  return (crowds.length > 0 ? BESIDE_CROWD_MS : READ_MS) +
    (stops ? Math.min(turns * IDLE_MS, STOPPED_MS) : 0);
}
