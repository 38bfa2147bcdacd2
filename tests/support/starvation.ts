/**
 * How long threads waited for a processor although they could run: what a test
 * on a busy machine must not take for slowness of the program.
 */

/**
 * Of the first thread of a process, milliseconds since it began, as Linux counts
 * them; 0 elsewhere, and when the process has ended.
 */
export function starvedMs(pid: number): number {
  return starvedMsOf(`/proc/${pid}/task/${pid}`);
}

/** The same of all its threads together. */
export function starvedMsOfAll(pid: number): number {
  const folder = `/proc/${pid}/task`;
  try {
    return Array.from(
      Deno.readDirSync(folder),
      ({ name }) => starvedMsOf(`${folder}/${name}`),
    ).reduce((sum, ms) => sum + ms, 0);
  } catch {
    return 0;
  }
}

function starvedMsOf(thread: string): number {
  try {
    const [, nanoseconds] = Deno.readTextFileSync(`${thread}/schedstat`)
      .split(" ");
    return Number(nanoseconds) / 1e6;
  } catch {
    return 0;
  }
}
