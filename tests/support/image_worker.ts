/** The image worker, for tests of the code around it. */
import { systemClock } from "../../src/deps.ts";
import { openImageStore } from "../../src/images/storage/open.ts";
import { ImageWorker } from "../../src/images/worker/image_worker.ts";
import type { ImageStore } from "../../src/images/storage/blob_store.ts";
import type { FromImageWorker } from "../../src/images/worker/messages.ts";
import type {
  SpawnedWorker,
  SpawnWorker,
} from "../../src/images/worker/spawn.ts";

/**
 * Runs the worker without a thread: starting one takes a sixth of a second of
 * CPU time. `images/worker/faults_test.ts`, `tests/faults` and tests of the
 * program use threads.
 */
export const inThisThread: SpawnWorker = workerWith((store) => store);

/** Like `inThisThread`, with another store in place of the worker's own. */
export function workerWith(
  storeOf: (own: ImageStore) => ImageStore,
): SpawnWorker {
  return ({ message }) => spawned(storeOf, message);
}

function spawned(
  storeOf: (own: ImageStore) => ImageStore,
  message: (message: FromImageWorker) => void,
): SpawnedWorker {
  const ended = Promise.withResolvers<void>();
  let isTerminated = false;
  const worker = new ImageWorker({
    clock: systemClock,
    openStore: ({ store }) => storeOf(openImageStore(store, systemClock)),
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
}
