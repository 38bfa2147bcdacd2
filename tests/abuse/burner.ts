/** A thread that uses a share of a core and does nothing else. */
import { lowerPriority } from "./priority.ts";
import { pause } from "../support/clock.ts";

const PERIOD_MS = 10;

lowerPriority();

self.onmessage = async ({ data: share }: MessageEvent<number>) => {
  for (;;) {
    const end = performance.now() + PERIOD_MS * share;
    while (performance.now() < end);
    await pause(PERIOD_MS * (1 - share));
  }
};
