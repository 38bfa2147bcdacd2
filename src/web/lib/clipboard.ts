/** Converts cells from and to the clipboard text of spreadsheet programs. */

/**
 * A cell is quoted if it has a tab or a line break, or begins with a quotation
 * mark.
 */
const QUOTED = /"((?:[^"]|"")*)"(?=\t|\r?\n|$)/y;
const UNQUOTED = /[^\t\r\n]*/y;
const SEPARATOR = /\t|\r?\n|\r|$/y;

/** Parses the rows of a text; a final line break does not begin another row. */
export function parseClipboardCells(text: string): string[][] {
  const rows: string[][] = [[]];
  for (let at = 0;;) {
    const { cell, end } = cellAt(text, at);
    rows.at(-1)!.push(cell);
    SEPARATOR.lastIndex = end;
    const [mark] = SEPARATOR.exec(text)!;
    at = end + mark.length;
    if (at === text.length && mark !== "\t") return rows;
    if (mark !== "\t") rows.push([]);
  }
}

function cellAt(text: string, from: number): { cell: string; end: number } {
  QUOTED.lastIndex = from;
  const quoted = QUOTED.exec(text);
  // Programs quote only cells that contain one of these characters. In other
  // cells, quotation marks are content.
  if (quoted !== null && /[\t\r\n]|""/.test(quoted[1])) {
    return { cell: quoted[1].replaceAll('""', '"'), end: QUOTED.lastIndex };
  }
  UNQUOTED.lastIndex = from;
  const [cell] = UNQUOTED.exec(text)!;
  return { cell, end: UNQUOTED.lastIndex };
}

/** The clipboard text of these rows. */
export function clipboardTextOf(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) =>
    cells.map((cell) =>
      /^"|[\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
    ).join("\t")
  ).join("\n");
}
