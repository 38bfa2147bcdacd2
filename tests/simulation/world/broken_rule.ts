/** The error for a rule that was broken. */

/** The names of the rules, as in the documentation of the simulation. */
export type Rule =
  /** An answer that the contracts do not allow. */
  | "contract"
  /** A reader saw a part of an upload, or data that were never stored. */
  | "atomic"
  /** A request has no answer, work does not end, or something waits in vain. */
  | "alive"
  /** A slot, lease or budget is still in use. */
  | "empty"
  /** Acknowledged data are missing, or stored data were not requested. */
  | "true"
  /** An honest seller waited because of hostile ones. */
  | "fair"
  /** `/readyz` reports a wrong state. */
  | "ready";

export class BrokenRule extends Error {
  readonly rule: Rule;
  /** What was observed, for finding the cause. */
  readonly seen: unknown;

  constructor(rule: Rule, words: string, seen?: unknown) {
    const shown = seen === undefined ? "" : `\n  seen: ${toText(seen)}`;
    super(`${rule}: ${words}${shown}`);
    this.name = "BrokenRule";
    this.rule = rule;
    this.seen = seen;
  }
}

/** Throws a `BrokenRule` unless `holds` is true. */
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
