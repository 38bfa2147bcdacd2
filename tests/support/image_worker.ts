/** The image worker, for tests of what happens around it. */
import { systemClock } from "../../src/deps.ts";
import { openImageStore } from "../../src/images/storage/open.ts";
import { ImageWorker } from "../../src/images/worker/image_worker.ts";
import type { SpawnWorker } from "../../src/images/worker/spawn.ts";

/**
 * The worker without a thread of its own: to start one takes a sixth of a second
 * of a processor. `images/worker/faults_test.ts`, `tests/faults` and whatever
 * runs the program have threads.
 */
export const inThisThread: SpawnWorker = ({ message }) => {
  const ended = Promise.withResolvers<void>();
  let isTerminated = false;
  const worker = new ImageWorker({
    clock: systemClock,
    openStore: ({ store }) => openImageStore(store, systemClock),
    post: (told) => {
      const copy = structuredClone(told);
      setTimeout(() => {
        if (!isTerminated) message(copy);
      });
    },
  });
  return {
    post: (sent) => {
      const copy = structuredClone(sent);
      setTimeout(() => worker.receive(copy));
    },
    terminate: () => {
      isTerminated = true;
      ended.resolve();
    },
    ended: ended.promise,
  };
};
