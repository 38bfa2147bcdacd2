/** The resources of a process, from the kernel. */

export interface Vitals {
  /** Resident memory, MiB. */
  rssMiB: number;
  threads: number;
  sockets: number;
  /** Other open descriptors. */
  files: number;
}

/**
 * Resident memory of a running process, in MiB; rejects if it has ended.
 * Cheaper than its vitals, which need a link to be read for each open
 * descriptor.
 */
export async function residentMiB(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return statusValue(status, "VmRSS") / 1_024;
}

/** Vitals of a running process; rejects if it has ended. */
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

/** The targets of open descriptors. */
async function descriptorsOf(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const targets: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    // A descriptor may be closed meanwhile.
    await Deno.readLink(`${folder}/${name}`).then(
      (target) => targets.push(target),
      () => {},
    );
  }
  return targets;
}
