/** Tables that scroll horizontally, and become lists on narrow screens. */
import type { ComponentChildren } from "preact";

export interface Column<T> {
  label: string;
  cell(row: T): ComponentChildren;
  /** Aligns the column to the right, for numbers. */
  right?: boolean;
  /** CSS classes of the cell. */
  classes?: string | ((row: T) => string);
}

/**
 * A table with explicit ARIA roles, because browsers drop the implicit roles of
 * elements for which the style sheet sets another `display`.
 */
export function Table<T>({ label, columns, rows, keyOf }: {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf(row: T): string | number;
}) {
  return (
    <div class="wide" tabIndex={0} role="region" aria-label={label}>
      <table role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th
                key={column.label}
                role="columnheader"
                scope="col"
                class={column.right ? "right" : ""}
              >
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row">
              {columns.map((column) => (
                <td
                  key={column.label}
                  role="cell"
                  class={classesOf(column, row)}
                  data-label={column.label}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classesOf<T>({ right, classes }: Column<T>, row: T): string {
  const more = typeof classes === "function" ? classes(row) : classes;
  return [right && "right", more].filter(Boolean).join(" ");
}
