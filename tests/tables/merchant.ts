/** A truthful and attentive merchant, who uses the page with one file. */
import type { Grid } from "./grid.ts";
import {
  answer,
  blockOf,
  choose,
  drop,
  earlierCurrencyOf,
  missingFieldsOf,
  NOTHING_CHOSEN,
  openQuestions,
  setCurrency,
  setUnit,
  type Target,
  type View,
} from "./page.ts";
import { countsOf, type Finding, judged, type Verdict } from "./judge.ts";
import type { MadeFile } from "./write.ts";

export interface Outcome {
  findings: readonly Finding[];
  counts: Readonly<Record<Verdict, number>>;
  /** Questions, and choices that the page requires. */
  asked: readonly string[];
  /** Why nothing is sent; null if it is sent. */
  refusal: string | null;
}

/** What an export of a shop does not say, or another program changed. */
const NEEDED_OF_SHOPS = /currency|unit|spreadsheet program|encoding|letters/i;

/** More questions would mean that the page asks without end. */
const MOST_STEPS = 60;

/** Fields that the page reports as missing, by their labels. */
const BY_LABEL: Readonly<Record<string, Target>> = {
  Title: "title",
  Price: "price",
  Quantity: "quantity",
  Currency: "currency",
};

export async function sell(grid: Grid, file: MadeFile): Promise<Outcome> {
  const asked: string[] = [];
  const { earlierCurrency } = grid;
  const before = earlierCurrency === undefined ? NOTHING_CHOSEN : {
    ...NOTHING_CHOSEN,
    earlierCurrency,
    values: { currency: earlierCurrency },
  };
  let now = await drop(file.name, file.bytes, before);
  if (typeof now === "string") return refused(grid, now, asked);
  const first = await judged(grid, now);
  for (let step = 0; step < MOST_STEPS; step++) {
    const next = await stepOf(grid, now, asked);
    if (next === null) {
      const { findings } = await judged(grid, now);
      const wasRight = new Set(
        first.findings.filter(({ verdict }) => verdict === "right")
          .map(({ sku, field }) => `${sku}\0${field}`),
      );
      const all = findings.map((one) =>
        one.verdict === "right" && !wasRight.has(`${one.sku}\0${one.field}`)
          ? { ...one, verdict: "asked" as const }
          : one
      );
      const needless = grid.isKnown
        ? asked.filter((text) => !NEEDED_OF_SHOPS.test(text))
        : [];
      for (const text of needless) {
        all.push({
          sku: "",
          field: "question",
          verdict: "wrong",
          sent: text,
          wanted: "",
        });
      }
      return { findings: all, counts: countsOf(all), asked, refusal: null };
    }
    if (typeof next === "string") return refused(grid, next, asked);
    now = next;
  }
  return {
    ...refused(grid, "it asks without end", asked),
    findings: [{
      sku: "",
      field: "file",
      verdict: "wrong",
      sent: "it asks without end",
      wanted: "",
    }],
    counts: { ...countsOf([]), wrong: 1 },
  };
}

/** Nothing of the file is sent, and the page says so. */
function refused(grid: Grid, refusal: string, asked: string[]): Outcome {
  const findings = grid.products.flatMap(({ sku, wants }) =>
    [...wants].map(([field, { texts }]): Finding => ({
      sku,
      field,
      verdict: "refused",
      sent: "",
      wanted: texts[0] ?? "",
    }))
  );
  return { findings, counts: countsOf(findings), asked, refusal };
}

/** Null: the button is pressed. A text: why the merchant gives up. */
async function stepOf(
  grid: Grid,
  view: View,
  asked: string[],
  depth = 0,
): Promise<View | string | null> {
  const [question] = openQuestions(view);
  if (question !== undefined) {
    asked.push(question.text);
    if (question.answers.length === 0) return question.text;
    return await best(
      grid,
      question.answers.map((one) => () => answer(view, question, one)),
      depth,
    );
  }
  const isSent = (field: string) =>
    grid.products.some(({ wants }) => wants.get(field)?.none === undefined);
  const stated = (field: string) =>
    isSent(field)
      ? grid.heads.findIndex(({ states }) => states.includes(field))
      : -1;
  const currency = earlierCurrencyOf(view);
  if (currency !== null && currency !== grid.currency) {
    return setCurrency(view, grid.currency);
  }
  const block = blockOf(view);
  if (block === "sku") {
    const column = stated("sku");
    if (column < 0) return "no SKU";
    asked.push("Choose the column with the SKU");
    return choose(view, column, "sku");
  }
  for (const label of missingFieldsOf(view.mapping)) {
    const target = BY_LABEL[label];
    const column = stated(target);
    if (column < 0 || view.mapping.targets[column] === target) continue;
    asked.push(`No column holds: ${label}`);
    return choose(view, column, target);
  }
  if (block === "currency") {
    asked.push("Every price needs its currency");
    return setCurrency(view, grid.currency);
  }
  if (block === "unit") {
    asked.push("Choose the unit");
    const { targets, numberFormats } = view.mapping;
    const column = targets.findIndex((target, i) =>
      target === "weight" && numberFormats[i].unit === ""
    );
    return setUnit(view, column, grid.weightUnit);
  }
  return block;
}

/** The view after the right answer. */
async function best(
  grid: Grid,
  answers: readonly (() => Promise<View | string>)[],
  depth: number,
): Promise<View | string> {
  let found: View | string = "no answer is right";
  let least = Infinity;
  for (const give of answers) {
    const view = await give();
    const badness = await lastBadness(grid, view, depth + 1);
    if (badness < least || least === Infinity && typeof found === "string") {
      least = badness;
      found = view;
    }
  }
  return found;
}

/** This many answers are considered together. */
const DEPTH = 3;

/** The result of a view once all following questions are answered. */
async function lastBadness(
  grid: Grid,
  view: View | string,
  depth: number,
): Promise<number> {
  let now = view;
  for (let step = 0; step < MOST_STEPS && depth <= DEPTH; step++) {
    if (typeof now === "string") return Infinity;
    const next = await stepOf(grid, now, [], depth);
    if (next === null) break;
    now = next;
  }
  return typeof now === "string" ? Infinity : await badnessOf(grid, now);
}

/**
 * How far numbers are from the true ones, which the next answer may correct.
 */
function distanceOf(findings: readonly Finding[]): number {
  return findings.reduce((sum, { sent, wanted }) => {
    const ratio = Math.abs(Math.log10(Number(sent) / Number(wanted)));
    return sum + (Number.isFinite(ratio) ? ratio : 0);
  }, 0);
}

async function badnessOf(grid: Grid, view: View): Promise<number> {
  const { counts, findings } = await judged(grid, view);
  const { wrong, lost, refused, left, right } = counts;
  // Somebody who knows the columns ignores those that are no fields.
  const strange =
    grid.heads.filter(({ states }, i) =>
      states.length === 0 && (view.mapping.targets[i] ?? "") !== ""
    ).length;
  return wrong * 1000 + lost * 900 + refused * 20 + left * 3 - right +
    strange / 10 + distanceOf(findings) / 100;
}
