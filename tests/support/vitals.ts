/** What a process takes of its machine, as the kernel tells it. */

export interface Vitals {
  /** Resident memory, MiB. */
  rssMiB: number;
  threads: number;
  sockets: number;
  /** Open descriptors of anything else. */
  files: number;
}

/**
 * Resident memory of a running process, MiB; rejects when it has ended. Costs
 * little, unlike its vitals: those read a link for each open descriptor.
 */
export async function residentMiB(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return statusValue(status, "VmRSS") / 1_024;
}

/** Vitals of a running process; rejects when it has ended. */
export async function vitalsOf(pid: number): Promise<Vitals> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  const descriptors = await descriptorsOf(pid);
  const sockets = descriptors.filter((to) => to.startsWith("socket:")).length;
  return {
    rssMiB: statusValue(status, "VmRSS") / 1_024,
    threads: statusValue(status, "Threads"),
    sockets,
    files: descriptors.length - sockets,
  };
}

function statusValue(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)![1]);
}

/** What each open descriptor leads to. */
async function descriptorsOf(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const targets: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    // One may be closed meanwhile.
    await Deno.readLink(`${folder}/${name}`).then(
      (target) => targets.push(target),
      () => {},
    );
  }
  return targets;
}
