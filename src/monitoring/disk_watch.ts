/** Watches the free space on the disks of the data and of the images. */
import type { Deps } from "../deps.ts";
import { SECOND_MS } from "../lib/durations.ts";
import { waitAtMost } from "../lib/waits.ts";

/** A disk with less than this percentage free is low. */
const LOW = 10;
/** A low disk stays low until this percentage is free. */
const ENOUGH = 12;
/** A disk that does not answer for this long is left out. */
const ANSWER_MS = SECOND_MS;

/** What a disk stores. */
export const DISKS = ["data", "images"] as const;
export type DiskName = typeof DISKS[number];

/** The folder on each disk; an image store such as S3 has none. */
export type DiskFolders = Readonly<Partial<Record<DiskName, string>>>;

export interface FreeSpace {
  holds: DiskName;
  freePercent: number;
  isLow: boolean;
}

export class DiskWatch {
  readonly #deps: Pick<Deps, "clock" | "disk" | "log">;
  readonly #folders: DiskFolders;
  readonly #low = new Set<DiskName>();

  constructor(
    deps: Pick<Deps, "clock" | "disk" | "log">,
    folders: DiskFolders,
  ) {
    this.#deps = deps;
    this.#folders = folders;
  }

  /**
   * Measures the disks; logs when a disk becomes low, and when it is no longer
   * low.
   */
  async update(): Promise<FreeSpace[]> {
    const { clock, disk } = this.#deps;
    const disks: FreeSpace[] = [];
    for (const holds of DISKS) {
      const folder = this.#folders[holds];
      if (folder === undefined) continue;
      let share: number | null = null;
      const reading = disk.freeShare(folder).then((read) => share = read);
      await waitAtMost(clock, ANSWER_MS, reading).catch(() => {});
      if (share !== null) disks.push(this.#freeSpaceOf(holds, folder, share));
    }
    return disks;
  }

  #freeSpaceOf(holds: DiskName, folder: string, share: number): FreeSpace {
    const { log } = this.#deps;
    const freePercent = Math.floor(100 * share);
    const wasLow = this.#low.has(holds);
    const isLow = freePercent < (wasLow ? ENOUGH : LOW);
    const line = { holds, folder, free_percent: freePercent };
    if (isLow && !wasLow) log.warn("disk_low", line);
    if (!isLow && wasLow) log.info("disk_low_over", line);
    if (isLow) this.#low.add(holds);
    else this.#low.delete(holds);
    return { holds, freePercent, isLow };
  }
}
