/** The images of a table's rows, and the cells that hold added pictures. */
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

/** The number of rows read between two pauses. */
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
 * The addresses of a row's images. The name of a file on a disk is no address:
 * the picture itself takes its place.
 */
export function imagesOfRow(
  { table, mapping }: MappedTable,
  row: number,
): string[] {
  const images = rowValues(table.rows[row], mapping).get("images") ?? [];
  return images.filter(isAddress);
}

/** The sheet with a column for images, unless it has one. */
export function withPictureColumn(sheet: MappedTable): MappedTable {
  return sheet.mapping.targets.includes("images")
    ? sheet
    : withColumnForField(sheet, "images");
}

/** The changes that put pictures into the first column for images. */
export function pictureChanges(
  sheet: MappedTable,
  rowOf: ReadonlyMap<string, number>,
  pictures: readonly PicturesForRow[],
  mode: PlacingMode,
): CellChange[] {
  const { targets } = sheet.mapping;
  /** The row of a SKU, also after rows before it were removed. */
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
    // A row without images leaves those of the stored product as they are.
    const former = own.length > 0 ? own : stored;
    const text = imagesAfter(former, urls, mode).join(" ");
    return [
      { row, column: first, text },
      ...others.filter((column) => sheet.table.rows[row][column] !== "")
        .map((column) => ({ row, column, text: "" })),
    ];
  });
}
