/** Writes a grid as a file. */
import { bookBytes } from "./page.ts";
import type { Cell, Grid } from "./grid.ts";

export interface MadeFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

export function fileOf(grid: Grid): MadeFile {
  const { writing } = grid;
  if (writing.kind === "xlsx") {
    const rows = [
      ...grid.above,
      grid.heads.map(({ name }) => name),
      ...grid.rows.map(({ cells }) => cells),
    ];
    const hiddenRows = grid.rows.flatMap(({ hidden }, i) =>
      hidden ? [grid.above.length + 1 + i] : []
    );
    const hiddenColumns = grid.heads
      .flatMap(({ hidden }, i) => hidden ? [i] : []);
    return {
      name: "products.xlsx",
      bytes: bookBytes(rows, {
        hiddenRows,
        hiddenColumns,
        sheets: writing.sheets,
      }),
    };
  }
  return {
    name: "products.csv",
    bytes: encoded(textOf(grid), writing.encoding, writing.bom),
  };
}

/** In the format that people read. */
export function textOf(grid: Grid): string {
  const { writing } = grid;
  const delimiter = writing.kind === "csv" ? writing.delimiter : "\t";
  const cellOf = (cell: Cell) => {
    const text = typeof cell === "string" ? cell : `${cell.v}`;
    switch (writing.quotes) {
      case "none":
        return text.replace(/[\r\n]+/g, " ");
      case "single":
        return `'${text}'`;
      case "all":
        return `"${text.replaceAll('"', '""')}"`;
      case "few":
        return text.includes(delimiter) || /["\r\n]/.test(text)
          ? `"${text.replaceAll('"', '""')}"`
          : text;
    }
  };
  const lines = [
    ...grid.above,
    grid.heads.map(({ name }) => name),
    ...grid.rows.map(({ cells }) => cells),
  ].map((cells) => cells.map(cellOf).join(delimiter));
  const sep = writing.kind === "csv" && writing.sep
    ? `sep=${delimiter}${writing.eol}`
    : "";
  return sep + lines.join(writing.eol) + writing.eol;
}

const CODE_PAGES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "iso-8859-1": {},
  "windows-1252": pageOf("windows-1252"),
  "windows-1250": pageOf("windows-1250"),
  "iso-8859-2": pageOf("iso-8859-2"),
  "iso-8859-15": pageOf("iso-8859-15"),
  macintosh: pageOf("macintosh"),
  cp850: Object.fromEntries(
    [..."ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼"]
      .map((letter, i) => [letter, 0x80 + i]),
  ),
};

function pageOf(label: string): Record<string, number> {
  const decoder = new TextDecoder(label);
  return Object.fromEntries(
    Array.from({ length: 128 }, (_, i) => [
      decoder.decode(new Uint8Array([0x80 + i])),
      0x80 + i,
    ]),
  );
}

/** Whether a code page contains all letters of a text. */
export function fits(text: string, encoding: string): boolean {
  const page = CODE_PAGES[encoding];
  return page === undefined ||
    [...text].every((letter) => letter < "\x80" || letter in page);
}

function encoded(
  text: string,
  encoding: string,
  bom: boolean,
): Uint8Array<ArrayBuffer> {
  if (encoding === "utf-16le") {
    const units = Uint16Array.from(
      `\ufeff${text}`,
      (unit) => unit.charCodeAt(0),
    );
    return new Uint8Array(units.buffer);
  }
  const page = CODE_PAGES[encoding];
  if (page === undefined) {
    return new TextEncoder().encode((bom ? "\ufeff" : "") + text);
  }
  return Uint8Array.from(
    [...text],
    (letter) => letter < "\x80" ? letter.charCodeAt(0) : page[letter] ?? 0x3f,
  );
}
