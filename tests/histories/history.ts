/**
 * A history: what clients sent to the service, and what they were answered, in
 * lines of JSON. The judge reads it and nothing else.
 */

/** The fields of a product that clients change. */
export const FIELDS = ["title", "price", "quantity", "mpn"] as const;
export type Field = (typeof FIELDS)[number];
export type Value = string | number | null;
export type Fields = Record<Field, Value>;

/** A product as a client read it. */
export interface Shown extends Fields {
  id: string;
  sku: string;
}

/** The entry of a deleted product in a list. */
export interface Gone {
  id: string;
  sku: string;
  deleted: true;
}

/** A product of a document. */
export interface Entry extends Partial<Fields> {
  sku: string;
  /** Added to the quantity. */
  change?: number;
}

/** A request to change one product, or the products of one group. */
export type Write =
  | { f: "upload" | "patch"; entries: Entry[] }
  | { f: "put"; sku: string; field: Field; value: Value; expected?: Value }
  | { f: "difference"; sku: string; change: number }
  | { f: "delete"; sku: string }
  /** `of` is the number of the operation that is undone. */
  | { f: "undo"; of: number };

export type Input =
  | Write
  /** The request of operation `of` again, with the same Idempotency-Key. */
  | { f: "repeat"; of: number }
  | { f: "read"; sku: string }
  /**
   * A page of a seller's products: of all, of those that changed since the walk
   * before, or of those that were deleted since. A walk is a list from its
   * first page to its last one.
   */
  | { f: "list"; kind: "all" | "since" | "deleted"; walk: number }
  /** A page of the operator's feed. */
  | { f: "feed"; after: string | null }
  | { f: "event"; reference: string }
  /** A page of a seller's events. */
  | { f: "events"; after: string | null }
  /** A delivery that arrived at the seller's endpoint, and was answered. */
  | { f: "delivery"; reference: string; id: string; status: number };

/** What the client was answered; only what the judge needs. */
export interface Answer {
  status: number;
  code?: string;
  transaction?: string;
  /** Whether the answer says that the request had been executed before. */
  replayed?: boolean;
  product?: Shown | null;
  products?: (Shown | Gone)[];
  /** The id of an event. */
  id?: string;
  events?: { id: string; reference: string }[];
  next?: string | null;
}

/**
 * A line. `info` says that an attempt was lost: no answer arrived, or an answer
 * that leaves the outcome open. An operation may have several attempts, and
 * ends with `ok`, with `fail` (it was refused), or never. `at` is the client's
 * monotonic time in milliseconds.
 */
export type Line =
  | {
    type: "invoke";
    at: number;
    n: number;
    client: string;
    seller: string;
    /** The group of products, whose writes are judged together. */
    group?: string;
    input: Input;
  }
  | { type: "ok" | "fail"; at: number; n: number; answer: Answer }
  | { type: "info"; at: number; n: number; reason: string }
  | { type: "fault"; at: number; kind: string; what: string };

/** An operation, put together from its lines. */
export interface Operation {
  n: number;
  client: string;
  seller: string;
  group?: string;
  input: Input;
  invoked: number;
  /** When the answer arrived; Infinity if the outcome is unknown. */
  ended: number;
  outcome: "ok" | "fail" | "unknown";
  answer: Answer | null;
}

export interface History {
  operations: Operation[];
  /** How often each kind of fault was made. */
  faults: Map<string, number>;
  /** Attempts that were lost. */
  lost: number;
  /** Answers of operations that were repeated, and that differ. */
  findings: string[];
}

/** Puts lines together; a repetition becomes part of what it repeats. */
export function historyOf(lines: Iterable<Line>): History {
  const operations = new Map<number, Operation>();
  const uncertain = new Set<number>();
  const faults = new Map<string, number>();
  let lost = 0;
  for (const line of lines) {
    if (line.type === "fault") {
      faults.set(line.kind, (faults.get(line.kind) ?? 0) + 1);
    } else if (line.type === "invoke") {
      const { at, n, client, seller, group, input } = line;
      operations.set(n, {
        ...{ n, client, seller, group, input, invoked: at },
        ...{ ended: Infinity, outcome: "unknown", answer: null },
      });
    } else if (line.type === "info") {
      uncertain.add(line.n);
      lost++;
    } else {
      const operation = operations.get(line.n)!;
      operation.answer = line.answer;
      operation.outcome = line.type;
      operation.ended = line.at;
    }
  }
  const findings: string[] = [];
  for (const repeat of operations.values()) {
    if (repeat.input.f !== "repeat") continue;
    const original = operations.get(repeat.input.of)!;
    if (repeat.outcome === "ok") findings.push(...compared(original, repeat));
    // The lost attempt may be executed later.
    else if (repeat.outcome === "unknown") uncertain.add(original.n);
    else if (original.outcome === "ok" && repeat.invoked > original.ended) {
      findings.push(
        `operation ${original.n} was repeated by ${repeat.n} and refused`,
      );
    }
    if (uncertain.has(repeat.n)) uncertain.add(original.n);
  }
  for (const operation of operations.values()) {
    // A lost attempt may be executed after another one was refused.
    if (operation.outcome !== "fail" || !uncertain.has(operation.n)) continue;
    operation.outcome = "unknown";
    operation.ended = Infinity;
    operation.answer = null;
  }
  return { operations: [...operations.values()], faults, lost, findings };
}

/** Merges an answered repetition into its original; returns what is wrong. */
function compared(original: Operation, repeat: Operation): string[] {
  const wrong: string[] = [];
  const said = `operation ${original.n} was repeated by ${repeat.n} and`;
  if (original.outcome !== "ok") {
    original.answer = repeat.answer;
    original.outcome = "ok";
    original.ended = repeat.ended;
    return wrong;
  }
  if (repeat.answer!.transaction !== original.answer!.transaction) {
    wrong.push(`${said} got another transaction`);
  }
  const isLater = repeat.invoked > original.ended;
  if (isLater && repeat.answer!.replayed !== true) {
    wrong.push(`${said} was not answered as a repetition`);
  }
  original.ended = Math.min(original.ended, repeat.ended);
  return wrong;
}
