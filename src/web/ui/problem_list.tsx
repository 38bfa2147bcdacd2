/** Lists of problems and of warnings. */
import type { Detail, Warnings } from "../../client/mod.ts";
import { formatCount, plural } from "../lib/format.ts";

/** The table row that was sent as a product; null if the row is unknown. */
export type RowOf = (product: number) => string | null;

/** A list of problems with their places, and the number of unlisted problems. */
export function ProblemList({ details, more = 0, rowOf }: {
  details: readonly Detail[];
  more?: number;
  rowOf?: RowOf;
}) {
  const placeOf = ({ product, sku, line }: Detail) => {
    const row = product === undefined ? null : rowOf?.(product) ?? null;
    if (row !== null) return `${row}: `;
    return (product === undefined ? "" : `${sku ?? `product ${product}`}, `) +
      (line === undefined ? "" : `line ${line}: `);
  };
  return (
    <>
      <ul>
        {details.map((detail, i) => (
          <li key={i}>{placeOf(detail)}{detail.message}</li>
        ))}
      </ul>
      {more > 0 && <p class="quiet">and {formatCount(more)} more</p>}
    </>
  );
}

/** The maximum number of warnings shown, which suffices to find the cause. */
const WARNINGS_SHOWN = 10;

/** A note about products that rules will refuse from a later day on. */
export function WarningNote({ warnings, isStored, rowOf }: {
  warnings: Warnings | undefined;
  /** Whether the products are stored; otherwise they were only checked. */
  isStored: boolean;
  rowOf?: RowOf;
}) {
  const { warning = [], more = 0 } = warnings ?? {};
  const total = warning.length + more;
  if (total === 0) return null;
  const [first] = warning.map(({ from }) => from).toSorted();
  return (
    <div class="note warn" role="status">
      <p>
        {plural(total, "warning")}: these products {isStored ? "are" : "can be"}
        {" "}
        stored, but from {first} on they would be refused.
      </p>
      <ProblemList
        details={warning.slice(0, WARNINGS_SHOWN)}
        more={total - Math.min(WARNINGS_SHOWN, warning.length)}
        rowOf={rowOf}
      />
    </div>
  );
}
