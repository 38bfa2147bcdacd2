/** Chooses the mutants to try, at random by a seed. */
import type { Random } from "../support/random.ts";
import { type Kind, KINDS, type Mutation, mutationsOf } from "./mutations.ts";

export interface Mutant {
  /** A path from `src/`. */
  file: string;
  mutation: Mutation;
}

/** The folders from which half of the mutants are drawn. */
export const CORE: readonly string[] = [
  "images",
  "imports",
  "webhooks",
  "jobs",
  "database",
  "catalogue",
];

/**
 * Mutants of these texts, by file, each once, until all are drawn: every second
 * one of `CORE`, and each kind equally often.
 */
export function* drawMutants(
  texts: Readonly<Record<string, string>>,
  random: Random,
): Generator<Mutant, void> {
  const all = Object.keys(texts).sort().flatMap((file) =>
    mutationsOf(texts[file]).map((mutation) => ({ file, mutation }))
  );
  const isCore = ({ file }: Mutant) => CORE.includes(folderOf(file));
  const lots = [
    byKind(all.filter(isCore)),
    byKind(all.filter((one) => !isCore(one))),
  ];
  for (let n = 0; lots.some((lot) => lot.size > 0); n++) {
    const lot = lots[n % 2].size > 0 ? lots[n % 2] : lots[1 - n % 2];
    const kinds = KINDS.filter((kind) => lot.has(kind));
    const kind = kinds[random.below(kinds.length)];
    const mutants = lot.get(kind)!;
    const [mutant] = mutants.splice(random.below(mutants.length), 1);
    if (mutants.length === 0) lot.delete(kind);
    yield mutant;
  }
}

/** The folder of a file of `src/`; "" if it is in none. */
export function folderOf(file: string): string {
  return file.includes("/") ? file.split("/")[0] : "";
}

function byKind(mutants: readonly Mutant[]): Map<Kind, Mutant[]> {
  return Map.groupBy(mutants, ({ mutation: { kind } }) => kind);
}
