/** Cells as spreadsheet programs put them on the clipboard. */

/**
 * A cell is quoted if it has a tab or a line break, or begins with a quotation
 * mark.
 */
const QUOTED = /"((?:[^"]|"")*)"(?=\t|\r?\n|$)/y;
const PLAIN = /[^\t\r\n]*/y;
const END = /\t|\r?\n|\r|$/y;

/** The rows of a text; a final line break does not begin another row. */
export function cellsIn(text: string): string[][] {
  const rows: string[][] = [[]];
  for (let at = 0;;) {
    const { cell, end } = cellAt(text, at);
    rows.at(-1)!.push(cell);
    END.lastIndex = end;
    const [mark] = END.exec(text)!;
    at = end + mark.length;
    if (at === text.length && mark !== "\t") return rows;
    if (mark !== "\t") rows.push([]);
  }
}

function cellAt(text: string, from: number): { cell: string; end: number } {
  QUOTED.lastIndex = from;
  const quoted = QUOTED.exec(text);
  // Programs quote no other cells, so these quotation marks are content.
  if (quoted !== null && /[\t\r\n]|""/.test(quoted[1])) {
    return { cell: quoted[1].replaceAll('""', '"'), end: QUOTED.lastIndex };
  }
  PLAIN.lastIndex = from;
  const [cell] = PLAIN.exec(text)!;
  return { cell, end: PLAIN.lastIndex };
}

/** The text for these rows. */
export function textOfCells(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) =>
    cells.map((cell) =>
      /^"|[\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
    ).join("\t")
  ).join("\n");
}
