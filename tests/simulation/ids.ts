/** Ids and random bytes that depend only on the seed. */
import type { Clock, Ids } from "../../src/deps.ts";
import type { Random } from "../support/random.ts";

/** Like the system's ids: those of one process are ordered by creation. */
export function seededIds(random: Random, clock: Pick<Clock, "now">): Ids {
  let ms = 0;
  let count = 0;
  const hex = (digits: number) =>
    random.below(16 ** digits).toString(16).padStart(digits, "0");
  return {
    uuid() {
      const now = clock.now();
      if (now > ms) {
        ms = now;
        count = 0;
      } else if (++count === 4_096) {
        ms++;
        count = 0;
      }
      const time = ms.toString(16).padStart(12, "0");
      const counter = count.toString(16).padStart(3, "0");
      return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-` +
        `${(8 + random.below(4)).toString(16)}${hex(3)}-${hex(6)}${hex(6)}`;
    },
    random: (bytes) =>
      Uint8Array.from({ length: bytes }, () => random.below(256)),
  };
}
