/** Finds a small part of a list that still fails. */

/**
 * Leaves out parts of `all`, in decreasing sizes, as long as `fails` is true
 * for what is left out; returns everything that can be left out. Makes at most
 * `tries` attempts.
 */
export async function leaveOut<T>(
  all: readonly T[],
  fails: (without: ReadonlySet<T>) => Promise<boolean>,
  tries: number,
): Promise<Set<T>> {
  let out = new Set<T>();
  for (let size = Math.ceil(all.length / 2);; size = Math.ceil(size / 2)) {
    const before = out.size;
    const left = all.filter((one) => !out.has(one));
    for (let at = 0; at < left.length; at += size) {
      if (tries-- === 0) return out;
      const more = new Set([...out, ...left.slice(at, at + size)]);
      if (await fails(more)) out = more;
    }
    if (size === 1 && out.size === before) return out;
  }
}
