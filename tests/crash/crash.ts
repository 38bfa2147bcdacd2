/**
 * Kills the real program at random moments during uploads, attribute updates,
 * images and events, and checks each time whether it kept its promises.
 */
import { assertEquals } from "@std/assert";
import { temporaryFolder } from "../support/process.ts";
import { Random } from "../support/random.ts";
import { sometimes } from "../support/sometimes.ts";
import { Processes } from "../processes/processes.ts";
import { endLeases, SqliteStore } from "../processes/store.ts";
import { Traffic, type TrafficFigures } from "../processes/traffic.ts";
import { pause } from "../support/clock.ts";

/**
 * The longest time between the start of the writers, or in every second life
 * their first answer, and the kill.
 */
const LIFE_MS = 500;
/** A first answer takes longer on a busy machine. */
const FIRST_MS = 10_000;
/** The longest time between the start of the program and an early kill. */
const START_MS = 600;
/** Kinds of images; a kill finds slow ones in progress. */
const KINDS = ["good", "flaky", "slow"];
/** One in this many kills comes while the program is starting. */
const WHILE_STARTING = 6;

/** How long a kill waits for an answer. */
const ANSWERED_MS = 100;

export interface CrashOptions {
  kills: number;
  seed: number;
  /**
   * Whether to end leases of dead processes at once, instead of waiting 15 s
   * for them.
   */
  hasten?: boolean;
  /** How long everything may take to settle after the last start. */
  settleMs: number;
  progress?: (kill: number) => void;
}

/** Throws at the first broken promise. */
export async function crash(options: CrashOptions): Promise<TrafficFigures> {
  await using folder = await temporaryFolder();
  await using processes = await Processes.start(new SqliteStore(folder.path));
  await using traffic = new Traffic(processes, {
    skus: 3,
    emitters: 3,
    kinds: KINDS,
    // A process that has just started refuses nothing.
    send: (writer, url, key) => writer.writeOnce(url, key),
  });
  const [service] = processes.services;
  const random = new Random(options.seed);
  /** Checks what the last life left, before anything new is written. */
  const look = async () => {
    await traffic.hold();
    await processes.startDead();
    await traffic.look();
    traffic.release();
  };
  await traffic.during(async () => {
    await service.kill();
    for (let kill = 1; kill <= options.kills; kill++) {
      if (random.below(WHILE_STARTING) === 0) {
        await service.killStarting(random.below(START_MS));
        sometimes("killed while starting");
      } else {
        await look();
        if (random.below(2) === 0) await traffic.answered(FIRST_MS);
        await pause(random.below(LIFE_MS));
        await traffic.answered(ANSWERED_MS);
        await service.kill();
        assertEquals(processes.suicides, []);
      }
      options.progress?.(kill);
    }
    if (options.hasten) await endLeases(processes.store);
    await look();
  }, options.settleMs);
  return await traffic.figures();
}
