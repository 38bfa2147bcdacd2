/** What the simulation found: a rule that did not hold. */

/** The rules of the simulation, by their names in the handbook of it. */
export type Rule =
  /** An answer that the contracts do not allow. */
  | "contract"
  /** A reader saw a part of an upload, or what was never stored. */
  | "atomic"
  /** Something has no answer, no end, or waits for nothing. */
  | "alive"
  /** A slot, lease or budget is still taken. */
  | "empty"
  /** What was acknowledged is not there, or what is there was not asked for. */
  | "true"
  /** An honest seller waited for what hostile ones do. */
  | "fair"
  /** `/readyz` says something that is not so. */
  | "ready";

export class BrokenRule extends Error {
  readonly rule: Rule;
  /** What was seen, for whoever looks for the cause. */
  readonly seen: unknown;

  constructor(rule: Rule, words: string, seen?: unknown) {
    const shown = seen === undefined ? "" : `\n  seen: ${toText(seen)}`;
    super(`${rule}: ${words}${shown}`);
    this.name = "BrokenRule";
    this.rule = rule;
    this.seen = seen;
  }
}

/** Throws a `BrokenRule` unless `holds`. */
export function hold(
  holds: boolean,
  rule: Rule,
  words: string,
  seen?: unknown,
): asserts holds {
  if (!holds) throw new BrokenRule(rule, words, seen);
}

function toText(seen: unknown): string {
  return typeof seen === "string" ? seen : JSON.stringify(seen);
}
