/** The values that a soak measured each minute, and conclusions from them. */

/** Values of one minute, by name; the unit is in the name. */
export type Minute = Readonly<Record<string, number>>;

/**
 * By how much a value may have grown at the end of the quiet part, as a share
 * of its beginning, and which growth is negligible.
 */
interface Bound {
  share: number;
  least: number;
}

/** Values that must not grow. */
const FLAT: Readonly<Record<string, Bound>> = {
  "heap MiB": { share: 0.25, least: 16 },
  "external MiB": { share: 0.25, least: 16 },
  "rss MiB": { share: 0.25, least: 48 },
  "threads": { share: 0, least: 4 },
  "sockets": { share: 0.5, least: 24 },
  "files": { share: 0.5, least: 8 },
  "wal MiB": { share: 0.5, least: 16 },
  "parts": { share: 0.5, least: 64 },
};

/** Fewer minutes do not show growth. */
const FEWEST = 6;

/** Prints a line for each minute under one heading. */
export class Log {
  #headed = false;

  print(minute: Minute, faults: readonly string[]): void {
    if (!this.#headed) console.log(Object.keys(minute).join(" | "));
    this.#headed = true;
    const values = Object.values(minute).map((value) =>
      Number.isInteger(value) ? `${value}` : value.toFixed(1)
    );
    console.log(`${values.join(" | ")} | ${faults.join(", ")}`);
  }
}

/**
 * A line for each value: in the first minute, in the last one, and the highest.
 */
export function ranges(minutes: readonly Minute[]): string[] {
  const [first, last] = [minutes[0], minutes.at(-1)];
  if (first === undefined || last === undefined) return [];
  const cell = (value: number) => value.toFixed(1).padStart(10);
  return Object.keys(first).filter((name) => name !== "minute").map((name) => {
    const most = Math.max(...minutes.map((minute) => minute[name]));
    return `${name.padEnd(24)} first ${cell(first[name])}, last ${
      cell(last[name])
    }, most ${cell(most)}`;
  });
}

/**
 * Values that grew although they should not. In the first third of the minutes
 * caches fill and code is compiled; of the rest, the first half is compared
 * with the second. Too few minutes show nothing.
 */
export function findGrowth(minutes: readonly Minute[]): string[] {
  const rest = minutes.slice(Math.floor(minutes.length / 3));
  if (rest.length < FEWEST) return [];
  const half = Math.floor(rest.length / 2);
  return Object.entries(FLAT).flatMap(([name, { share, least }]) => {
    const before = lowest(rest.slice(0, half), name);
    const after = lowest(rest.slice(half), name);
    const grown = after - before;
    if (grown <= Math.max(least, before * share)) return [];
    return [`${name} grew from ${before.toFixed(1)} to ${after.toFixed(1)}`];
  });
}

/** The lowest value is what is never released. */
function lowest(minutes: readonly Minute[], name: string): number {
  return minutes.reduce(
    (least, minute) => Math.min(least, minute[name] ?? 0),
    Infinity,
  );
}
