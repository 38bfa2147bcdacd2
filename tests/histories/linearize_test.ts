/** The search agrees with brute force on small histories. */
import { assertEquals } from "@std/assert";
import { Random } from "../support/random.ts";
import { type Call, linearize, type Model } from "./linearize.ts";

/** A register that is set, added to, set if it has a value, and read. */
interface RegisterCall extends Call {
  does: "set" | "add" | "swap" | "read";
  value: number;
  expected: number;
}

const REGISTER: Model<number, RegisterCall> = {
  initial: 0,
  isRead: ({ does }) => does === "read",
  apply({ does, value, expected }, state) {
    if (does === "read") return state === value ? state : null;
    if (does === "swap") return state === expected ? value : null;
    return does === "set" ? value : state + value;
  },
};

/** Whether any order of the calls, without some unknown ones, is possible. */
function bruteForce(calls: readonly RegisterCall[], state: number): boolean {
  if (calls.every(({ ended }) => ended === Infinity)) return true;
  const firstEnd = Math.min(...calls.map(({ ended }) => ended));
  return calls.some((call, n) => {
    if (call.invoked > firstEnd) return false;
    const next = REGISTER.apply(call, state);
    return next !== null && bruteForce(calls.toSpliced(n, 1), next);
  });
}

function randomCalls(random: Random): RegisterCall[] {
  const times = Array.from({ length: 14 }, (_, n) => n);
  const take = () => times.splice(random.below(times.length), 1)[0];
  return Array.from({ length: 2 + random.below(6) }, () => {
    const [invoked, ended] = [take(), take()].sort((a, b) => a - b);
    const does = (["set", "add", "swap", "read", "read"] as const)[
      random.below(5)
    ];
    const isUnknown = does !== "read" && random.below(4) === 0;
    return {
      ...{ invoked, does },
      ended: isUnknown ? Infinity : ended,
      value: random.below(4),
      expected: random.below(3),
    };
  });
}

Deno.test("the search finds an order exactly if there is one", () => {
  const random = new Random(5);
  const found = { wrong: 0, linearizable: 0 };
  for (let n = 0; n < 5_000; n++) {
    const calls = randomCalls(random);
    const { is } = linearize(calls, REGISTER);
    const expected = bruteForce(calls, 0) ? "linearizable" : "wrong";
    assertEquals(is, expected, JSON.stringify(calls));
    found[expected]++;
  }
  assertEquals(found.wrong > 500 && found.linearizable > 500, true);
});

Deno.test("the search gives up where there are too many orders", () => {
  const adds = Array.from({ length: 18 }, (_, n): RegisterCall => ({
    ...{ invoked: 0, ended: Infinity, does: "add", expected: 0 },
    value: 2 ** n,
  }));
  const read = { invoked: 1, ended: 2, does: "read", value: -1, expected: 0 };
  const { is } = linearize([...adds, read as RegisterCall], REGISTER, 1_000);
  assertEquals(is, "undecided");
});
