/** Translates values of other programs to values of the interface. */
import type { ColumnField } from "../../lib/column_field.ts";

/** The words of other programs for each value, without spaces. */
const YES = "1 true yes ja oui si sí tak wahr vrai verdadero prawda waar sant";
const NO =
  "0 false no nein nej non nie nee falsch faux falso fałsz onwaar falskt";
const WORDS: Readonly<Partial<Record<ColumnField, Record<string, string>>>> = {
  availability: {
    in_stock: `${YES} instock available lieferbar`,
    out_of_stock: `${NO} outofstock soldout`,
  },
  status: {
    active: `${YES} y j s x published publish visible enabled aktiv online`,
    paused:
      `${NO} -1 n draft archived private hidden disabled unlisted inactive inaktiv offline`,
  },
  condition: {
    new: "neu ny nytt nya neuf nuevo nowy nieuw",
    used:
      "gebraucht begagnad begagnat occasion doccasion usado uzywany gebruikt",
    refurbished: "generalüberholt renoverad reconditionné reacondicionado",
  },
};

/** True for a word for yes, false for a word for no; null for other texts. */
export function yesOrNo(text: string): boolean | null {
  const word = wordFor("status", text);
  return word === undefined ? null : word === "active";
}

/** The interface's value for the text of a cell; undefined if unknown. */
export function wordFor(target: ColumnField, text: string): string | undefined {
  const word = text.toLowerCase().replace(/[\s_']+/g, "");
  const words = Object.entries(WORDS[target] ?? {});
  return words.find(([, others]) => others.split(" ").includes(word))?.[0];
}
