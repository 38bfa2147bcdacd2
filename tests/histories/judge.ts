/**
 * Judges a history by the handbook's promises:
 * `deno run -A tests/histories/judge.ts FILE` prints the verdict. Knows nothing
 * of the service's code.
 */
import {
  type History,
  historyOf,
  type Line,
  type Operation,
} from "./history.ts";
import { linearize } from "./linearize.ts";
import {
  groupOf,
  judgeCopies,
  judgeEvents,
  missingFrom,
  shownBy,
  writesOf,
} from "./lists.ts";
import { callOf, type GroupCall, groupModel, type State } from "./model.ts";

export interface Judgement {
  findings: string[];
  /** Groups whose search was given up. */
  undecided: string[];
  figures: Record<string, number>;
}

/** How many calls before the impossible one a finding shows. */
const SHOWN = 25;

/** @param isOneServer whether one server has the rows of all sellers */
export function judge(
  lines: Iterable<Line>,
  { isOneServer = true } = {},
): Judgement {
  const began = performance.now();
  const history = historyOf(lines);
  const { operations } = history;
  const writes = writesOf(operations);
  const groups = groupsOf(operations, missingFrom(operations, writes));
  const findings = [
    ...history.findings,
    ...judgeCopies(operations, writes, isOneServer),
    ...judgeEvents(operations),
  ];
  const undecided: string[] = [];
  let most = 0;
  for (const [group, calls] of groups) {
    const skus = [...new Set(calls.flatMap(skusIn))].sort();
    const verdict = linearize(calls, groupModel(skus, calls));
    if (verdict.is === "linearizable") {
      most = Math.max(most, verdict.configurations);
    } else if (verdict.is === "undecided") undecided.push(group);
    else findings.push(describe(group, calls, verdict.call, verdict.states));
  }
  const products = new Set(writes.keys()).size;
  return {
    findings,
    undecided,
    figures: {
      ...figuresOf(history),
      groups: groups.size,
      products,
      mostConfigurations: most,
      judgeMs: Math.round(performance.now() - began),
    },
  };
}

/** The calls on each group of products, in the order of invocation. */
function groupsOf(
  operations: readonly Operation[],
  missing: readonly GroupCall[],
): Map<string, GroupCall[]> {
  const groups = new Map<string, GroupCall[]>();
  const add = (group: string, call: GroupCall) => {
    const calls = groups.get(group);
    if (calls === undefined) groups.set(group, [call]);
    else calls.push(call);
  };
  const show = (call: GroupCall) => {
    if ("shows" in call.does) add(groupOf(call.does.shows.sku), call);
  };
  for (const operation of operations) {
    if (operation.group !== undefined) {
      const call = callOf(operation);
      if (call !== null) add(operation.group, call);
    } else if (operation.answer?.products && operation.outcome === "ok") {
      shownBy(operation).forEach(show);
    }
  }
  missing.forEach(show);
  return groups;
}

function skusIn({ does }: GroupCall): string[] {
  if ("shows" in does) return [does.shows.sku];
  const { write } = does;
  if ("entries" in write) return write.entries.map(({ sku }) => sku);
  return "sku" in write ? [write.sku] : [];
}

function describe(
  group: string,
  calls: readonly GroupCall[],
  impossible: GroupCall,
  states: readonly State[],
): string {
  const before = calls.filter(({ invoked }) => invoked <= impossible.ended)
    .sort((a, b) => a.ended - b.ended || a.invoked - b.invoked);
  const open = before.filter(({ ended }) => ended > impossible.ended);
  const ended = before.filter(({ ended }) => ended <= impossible.ended);
  const show = (call: GroupCall) => `    ${JSON.stringify(call)}`;
  return [
    `${group}: operation ${impossible.n} cannot have been answered so`,
    ...ended.slice(-SHOWN).map(show),
    "  pending:",
    ...open.map(show),
    "  possible before:",
    ...states.slice(0, 5).map((state) => `    ${JSON.stringify(state)}`),
  ].join("\n");
}

function figuresOf(
  { operations, faults, lost }: History,
): Record<string, number> {
  const count = (which: (one: Operation) => boolean) =>
    operations.filter(which).length;
  const isWrite = (one: Operation) =>
    one.group !== undefined &&
    one.input.f !== "read";
  return {
    operations: operations.length,
    writes: count((one) => isWrite(one) && one.outcome === "ok"),
    refused: count((one) => isWrite(one) && one.outcome === "fail"),
    unknown: count((one) => isWrite(one) && one.outcome === "unknown"),
    reads: count(({ input }) => input.f === "read"),
    pages: count(({ answer }) => answer?.products !== undefined),
    undos: count(({ input, outcome }) =>
      input.f === "undo" && outcome === "ok"
    ),
    repetitions: count(({ input }) => input.f === "repeat"),
    events: count(({ input }) => input.f === "event"),
    deliveries: count(({ input }) => input.f === "delivery"),
    lostAttempts: lost,
    ...Object.fromEntries(faults),
  };
}

/** The lines of a file. */
export async function* readLines(path: string): AsyncGenerator<Line> {
  const file = await Deno.open(path);
  let rest = "";
  for await (const text of file.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) yield JSON.parse(line);
  }
  // A line that was cut when the recorder died is left out.
}

/** What a person reads of a judgement. */
export function printed({ findings, undecided, figures }: Judgement): string {
  return [
    JSON.stringify(figures),
    ...findings,
    ...undecided.map((group) => `${group} was not decided: too many orders`),
    findings.length + undecided.length === 0
      ? "verdict: nothing found"
      : `verdict: ${findings.length} found, ${undecided.length} undecided`,
  ].join("\n");
}

/** 1 at any number of findings: a system keeps only eight bits of the code. */
export function exitCodeOf({ findings, undecided }: Judgement): 0 | 1 {
  return findings.length + undecided.length === 0 ? 0 : 1;
}

if (import.meta.main) {
  const [path, engine = "postgres"] = Deno.args;
  const lines = await Array.fromAsync(readLines(path));
  const judgement = judge(lines, { isOneServer: engine === "postgres" });
  console.log(printed(judgement));
  Deno.exitCode = exitCodeOf(judgement);
}
