/** Questions about prices: about VAT, about packs and about sales. */
import { formatCount, plural } from "../../lib/format.ts";
import type { SlicedWork } from "../../lib/slices.ts";
import { HUNDREDTHS } from "../../lib/numbers.ts";
import { sampledValues, targetByValues } from "../columns/guesses.ts";
import {
  namesNetAmount,
  namesPrice,
  namesPriceUnit,
  namesRecommendedPrice,
  piecesInCell,
  piecesPerPrice,
  piecesPerPriceIn,
  saysPricesAreNet,
  targetByName,
  targetsByName,
  vatFlagOf,
} from "../columns/headers.ts";
import { shopOf } from "../shops/shops.ts";
import {
  cellValues,
  fieldBesidePrice,
  isNumber,
  isPrice,
} from "../columns/spreadsheet.ts";
import { yesOrNo } from "../read/words.ts";
import type { Table } from "../read/csv.ts";
import {
  type CheckedTable,
  columnName,
  columnRemoval,
  confirmation,
  type Finding,
  type FindingAnswer,
  mappingChange,
  question,
  rowsWhere,
  tableChange,
  withCellInRows,
  withoutRows,
} from "./finding.ts";
import { saleColumnOf } from "./table_checks.ts";

/** The indices of the columns with prices. */
function priceColumns({ mapping: { targets } }: CheckedTable): number[] {
  return [...targets.keys()].filter((i) => isPrice(targets[i]));
}

/** A remark about all prices, and the rows that only contain such a remark. */
interface Remark {
  text: string;
  rows: readonly number[];
}

/** Finds a remark in the titles and in the rows of text. */
function* remarkIn(
  table: Table,
  isMeant: (text: string) => boolean,
): SlicedWork<Remark | null> {
  const rows = yield* rowsWhere(table, (cells) => {
    const at = cells.findIndex((cell) => cell !== "");
    return at >= 0 && cells[at].includes(" ") &&
      cells.slice(at + 1).every((cell) => cell === "") && isMeant(cells[at]);
  });
  const text = rows.length > 0
    ? table.rows[rows[0]].join("")
    : table.titles?.find(isMeant);
  return text === undefined ? null : { text, rows };
}

/** An answer to the question about a remark, whose rows are left out. */
function remarkAnswer(
  { rows }: Remark,
  { label, apply }: FindingAnswer,
): FindingAnswer {
  return {
    label,
    apply: ({ table, mapping }) =>
      apply({ table: withoutRows(table, rows), mapping }),
  };
}

/** Asks about VAT if a title or a row of text says that prices are without VAT. */
export function* netQuestion(
  checked: CheckedTable,
): SlicedWork<Finding | null> {
  const prices = priceColumns(checked);
  if (prices.length === 0) return null;
  const remark = yield* remarkIn(checked.table, saysPricesAreNet);
  if (remark === null) return null;
  const isForOne = piecesPerPriceIn(remark.text) === 1;
  return question(
    `A row says “${remark.text.slice(0, 60)}”. Are the prices ${
      isForOne ? "" : "those of one piece "
    }with VAT?`,
    remarkAnswer(remark, confirmation("Yes")),
    remarkAnswer(remark, columnRemoval("No: leave the prices out", prices)),
  );
}

/** Asks about prices if a title or a row of text says that they are for many. */
export function* piecesQuestion(
  checked: CheckedTable,
): SlicedWork<Finding | null> {
  const prices = priceColumns(checked);
  if (prices.length === 0) return null;
  // The question about VAT also asks about the number of pieces.
  const remark = yield* remarkIn(
    checked.table,
    (text) => piecesPerPriceIn(text) > 1 && !saysPricesAreNet(text),
  );
  if (remark === null) return null;
  const pieces = piecesPerPriceIn(remark.text);
  return question(
    `A row says “${remark.text.slice(0, 60)}”. Are the prices those of one ` +
      `piece, or of ${pieces}?`,
    ...piecesAnswers(prices, pieces).map((one) => remarkAnswer(remark, one)),
  );
}

export function saleQuestions(
  { table, mapping: { targets }, problems }: CheckedTable,
): (Finding | null)[] {
  const column = saleColumnOf(table.header, targets);
  const asked = (rows: readonly number[], why: string, yes: string) =>
    rows.length === 0 ? null : question(
      `${plural(rows.length, "sale price")} ${why}`,
      confirmation(yes),
      tableChange(
        `Leave ${formatCount(rows.length)} out`,
        (table) => withCellInRows(table, rows, column, ""),
      ),
    );
  return [
    asked(
      problems.timedSales,
      "with a date that is not sent: the sale would begin at once. To send " +
        "it, choose “Sale from” and “Sale until” for its columns.",
      "The sale is on now",
    ),
    asked(
      problems.unpricedSales,
      "without a price would become the price.",
      "That is right",
    ),
  ];
}

/** Asks whether a recommended or other price is the price of the product. */
export function recommendedQuestion(
  { table, mapping: { targets }, chosen }: CheckedTable,
): Finding | null {
  const { header, rows } = table;
  const column = targets.indexOf("price");
  if (column < 0) return null;
  const name = header[column];
  const isGuessed = !Object.hasOwn(chosen.targets, name) &&
    targetsByName(header)[column] === null &&
    targetByValues(name, sampledValues(rows, column)) === "price";
  // A former or sale price is the price only if no other column may be the price.
  const isInstead = fieldBesidePrice(name) !== "" &&
    shopOf(header) === undefined &&
    header.some((other, i) =>
      targets[i] === "" && targetByName(other) === null &&
      (namesPrice(other) || vatFlagOf(other) !== null) &&
      sampledValues(rows, i).some(isNumber)
    );
  return !namesRecommendedPrice(name) && !isGuessed && !isInstead
    ? null
    : question(
      `${
        columnName(table, column)
      } would be the price, because no other column is.`,
      confirmation("It is the price"),
      columnRemoval("Leave it out", [column]),
    );
}

/** A column with at most this many different values may mark kinds of prices. */
const KIND_LIMIT = 6;

/** Whether a column marks prices for many pieces, or prices without VAT. */
function priceMarkIn(
  { header, rows }: Table,
  column: number,
): ((cell: string) => boolean) | null {
  const name = header[column];
  if (namesPriceUnit(name)) return (cell) => piecesInCell(cell) > 1;
  const values = sampledValues(rows, column, KIND_LIMIT + 1);
  const flag = vatFlagOf(name);
  if (flag !== null && values.every((value) => yesOrNo(value) !== null)) {
    return (cell) => yesOrNo(cell) === (flag === "net");
  }
  const isKind = values.length <= KIND_LIMIT && !values.some(isNumber) &&
    (namesPrice(name) || flag !== null);
  return isKind && values.some(namesNetAmount) ? namesNetAmount : null;
}

/** Asks about prices that another column marks as for many pieces or as net. */
export function* priceQuestions(checked: CheckedTable): SlicedWork<Finding[]> {
  const { table, mapping: { targets } } = checked;
  const { header, rows } = table;
  const prices = priceColumns(checked);
  if (prices.length === 0) return [];
  const questions: Finding[] = [];
  for (const column of header.keys()) {
    const isSaid = targets[column] === "" ? priceMarkIn(table, column) : null;
    if (isSaid === null) continue;
    const found = yield* rowsWhere(
      table,
      (cells) =>
        isSaid(cells[column]) && prices.some((price) => cells[price] !== ""),
    );
    if (found.length === 0) continue;
    questions.push(question(
      `${header[column]} is ${rows[found[0]][column]} in ${
        plural(found.length, "row")
      }. Is the price there that of one piece with VAT?`,
      confirmation("Yes"),
      tableChange(
        `No: leave ${plural(found.length, "price")} out`,
        (table) =>
          prices.reduce(
            (all, price) => withCellInRows(all, found, price, ""),
            table,
          ),
      ),
    ));
  }
  return questions;
}

/** Asks about a price that is less than the net price in the same row. */
export function* netPriceQuestion(
  checked: CheckedTable,
): SlicedWork<Finding | null> {
  const { table, mapping } = checked;
  const { targets } = mapping;
  const price = targets.indexOf("price");
  const net = table.header.findIndex((name, i) =>
    targets[i] === "" && namesNetAmount(name) && namesPrice(name)
  );
  if (
    price < 0 || net < 0 || vatFlagOf(table.header[price]) === "gross" ||
    shopOf(table.header) !== undefined
  ) return null;
  const pieces = piecesPerPrice(table.header[net]);
  const amountIn = (cells: readonly string[], column: number) =>
    Number(cellValues("price", cells[column], mapping, column, "")[0]);
  const found = yield* rowsWhere(
    table,
    (cells) => amountIn(cells, price) < amountIn(cells, net) / pieces,
  );
  const [example] = found.map((row) => table.rows[row]);
  return example === undefined ? null : question(
    `${columnName(table, price)} is ${example[price]} where ${
      columnName(table, net)
    } is ${example[net]}. Is it with VAT?`,
    confirmation("Yes"),
    columnRemoval("No: leave the prices out", priceColumns(checked)),
  );
}

/** The answers to the question whether prices are those of one piece. */
function piecesAnswers(
  columns: readonly number[],
  pieces: number,
): FindingAnswer[] {
  const it = columns.length === 1 ? "it" : "them";
  return [
    confirmation("Of one"),
    pieces === 100
      ? mappingChange(
        `Of 100: divide ${it}`,
        ({ numberFormats, ...mapping }) => ({
          ...mapping,
          numberFormats: numberFormats.map((format, column) =>
            columns.includes(column) ? { ...format, unit: HUNDREDTHS } : format
          ),
        }),
      )
      : columnRemoval(`Of ${pieces}: leave ${it} out`, columns),
  ];
}

/** Asks about prices in a column whose name means several pieces. */
export function packQuestions(
  { table, mapping: { targets } }: CheckedTable,
): Finding[] {
  return [...table.header.keys()].flatMap((column) => {
    const pieces = isPrice(targets[column])
      ? piecesPerPrice(table.header[column])
      : 1;
    if (pieces === 1) return [];
    return [question(
      `${columnName(table, column)}: is that the price of one piece, or of ` +
        `${pieces}?`,
      ...piecesAnswers([column], pieces),
    )];
  });
}
