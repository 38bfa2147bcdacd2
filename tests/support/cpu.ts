/** CPU time, as Linux counts it. */

const TICKS_A_SECOND = 100;

/** CPU time of a process and its children, including those that have ended. */
export async function cpuSecondsOf(pid: number): Promise<number> {
  let ticks = 0;
  for await (const { name } of Deno.readDir("/proc")) {
    const stat = /^\d+$/.test(name) ? await statOf(name) : null;
    if (stat === null) continue;
    if (Number(name) === pid) ticks += sum(stat.slice(11, 15));
    if (Number(stat[1]) === pid) ticks += sum(stat.slice(11, 13));
  }
  return ticks / TICKS_A_SECOND;
}

/** CPU time of all processes of the machine. */
export async function cpuSecondsOfAll(): Promise<number> {
  const [line] = (await Deno.readTextFile("/proc/stat")).split("\n");
  const [user, nice, system, , , irq, softirq] = line.split(/ +/).slice(1);
  return sum([user, nice, system, irq, softirq]) / TICKS_A_SECOND;
}

/** The fields after the name; null if the process has ended. */
async function statOf(pid: string): Promise<string[] | null> {
  const text = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => null);
  return text?.slice(text.lastIndexOf(")") + 2).split(" ") ?? null;
}

function sum(values: readonly string[]): number {
  return values.reduce((total, value) => total + Number(value), 0);
}
