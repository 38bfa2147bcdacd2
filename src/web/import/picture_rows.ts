/** The images of a table's rows, and the changes that add pictures to rows. */
import { imagesAfter } from "../pictures/set.ts";
import type { PicturesForRow, PlacingMode } from "../pictures/placing.ts";
import type { SlicedWork } from "../lib/slices.ts";
import {
  type CellChange,
  type MappedTable,
  skuOfRow,
  withColumnForField,
} from "./columns/sheet.ts";
import { isAddress, rowValues } from "./columns/spreadsheet.ts";

/** The number of rows that are read between two pauses. */
const STEP = 250;

/** The rows by their SKUs, as they are sent. */
export function* rowsBySku(
  sheet: MappedTable,
  rows: readonly number[],
): SlicedWork<ReadonlyMap<string, number>> {
  const bySku = new Map<string, number>();
  for (const [i, row] of rows.entries()) {
    if (i % STEP === STEP - 1) yield;
    const sku = skuOfRow(sheet, row);
    if (sku !== "") bySku.set(sku, row);
  }
  return bySku;
}

/**
 * The addresses of a row's images. Names of files are left out, because the
 * pictures themselves replace them.
 */
export function imagesOfRow(
  { table, mapping }: MappedTable,
  row: number,
): string[] {
  const images = rowValues(table.rows[row], mapping).get("images") ?? [];
  return images.filter(isAddress);
}

/** The table with a column for images, which is added if necessary. */
export function withPictureColumn(sheet: MappedTable): MappedTable {
  return sheet.mapping.targets.includes("images")
    ? sheet
    : withColumnForField(sheet, "images");
}

/** The changes that add pictures to the first column for images. */
export function pictureChanges(
  sheet: MappedTable,
  rowOf: ReadonlyMap<string, number>,
  pictures: readonly PicturesForRow[],
  mode: PlacingMode,
): CellChange[] {
  const { targets } = sheet.mapping;
  /** The current row of a SKU; rows before it may have been removed. */
  const currentRow = (sku: string) => {
    const row = rowOf.get(sku);
    const isSame = row !== undefined && row < sheet.table.rows.length &&
      skuOfRow(sheet, row) === sku;
    return isSame
      ? row
      : sheet.table.rows.findIndex((_, row) => skuOfRow(sheet, row) === sku);
  };
  const [first, ...others] = [...targets.keys()]
    .filter((column) => targets[column] === "images");
  return pictures.flatMap(({ sku, urls, stored }) => {
    const row = currentRow(sku);
    if (row < 0) return [];
    const own = imagesOfRow(sheet, row);
    // A row without images does not change the images of the stored product.
    const former = own.length > 0 ? own : stored;
    const text = imagesAfter(former, urls, mode).join(" ");
    return [
      { row, column: first, text },
      ...others.filter((column) => sheet.table.rows[row][column] !== "")
        .map((column) => ({ row, column, text: "" })),
    ];
  });
}
