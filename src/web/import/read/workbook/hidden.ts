/**
 * Finds hidden sheets, rows and columns in workbooks of LibreOffice, because the
 * library does not report them (OpenDocument 1.3, part 3: 9.1.2 to
 * 9.1.6, 17.16, 19.628, 19.749).
 */
import type { WorkBook } from "@e965/xlsx";
import { CFB } from "./xlsx.ts";

/** The tags that contain which sheets, rows and columns are hidden. */
const TAG =
  /<(style:style|style:table-properties|table:table(?:-column|-row)?)((?:[\s/][^<>]*)?)>/g;

/**
 * Marks hidden sheets, columns and rows in a book as the library does for Excel.
 * Examines at most `rows` rows of each sheet.
 */
export function noteHidden(
  book: WorkBook,
  bytes: ArrayBuffer,
  rows: number,
): void {
  const archive = CFB.read(new Uint8Array(bytes), { type: "array" });
  const content = CFB.find(archive, "content.xml")?.content;
  if (content == null) return;
  const xml = new TextDecoder().decode(Uint8Array.from(content));
  const hiddenStyles = new Set<string>();
  const hiddenSheets: boolean[] = [];
  const columns: { hidden: boolean }[][] = [];
  const lines: { hidden: boolean }[][] = [];
  let style = "";
  for (const [, name, attributes] of xml.matchAll(TAG)) {
    const value = (of: string) => valueOf(attributes, of);
    const times = (of: string) => Number(value(of) || 1);
    const isHidden = ["collapse", "filter"].includes(value("table:visibility"));
    if (name === "style:style") style = value("style:name");
    else if (name === "style:table-properties") {
      if (value("table:display") === "false") hiddenStyles.add(style);
    } else if (name === "table:table") {
      hiddenSheets.push(hiddenStyles.has(value("table:style-name")));
      columns.push([]);
      lines.push([]);
    } else if (name === "table:table-column") {
      const count = times("table:number-columns-repeated");
      repeat(columns.at(-1), isHidden, count, rows);
    } else {
      repeat(lines.at(-1), isHidden, times("table:number-rows-repeated"), rows);
    }
  }
  book.Workbook = {
    ...book.Workbook,
    Sheets: hiddenSheets.map((isHidden) => ({ Hidden: isHidden ? 1 : 0 })),
  };
  for (const [i, name] of book.SheetNames.entries()) {
    book.Sheets[name]["!cols"] = columns[i];
    book.Sheets[name]["!rows"] = lines[i];
  }
}

function valueOf(attributes: string, name: string): string {
  const from = attributes.indexOf(`${name}="`);
  if (from < 0) return "";
  const begin = from + name.length + 2;
  return attributes.slice(begin, attributes.indexOf('"', begin));
}

function repeat(
  list: { hidden: boolean }[] = [],
  hidden: boolean,
  count: number,
  most: number,
): void {
  for (let i = 0; i < count && list.length < most; i++) {
    // bounded: the rows of a sheet
    list.push({ hidden });
  }
}
