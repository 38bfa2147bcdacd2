/** Warnings: products that rules with a later start will refuse. */
import type { Warnings } from "../../client/mod.ts";
import { count, plural } from "../lib/format.ts";
import { ProblemList } from "./refusals.tsx";

/** The most warnings that are shown; these are enough to find the cause. */
const SHOWN = 10;

export function WarningNote({ warnings }: { warnings: Warnings | undefined }) {
  const { warning = [], more = 0 } = warnings ?? {};
  const total = warning.length + more;
  if (total === 0) return null;
  const [first] = warning.map(({ from }) => from).toSorted();
  return (
    <div class="note warn" role="status">
      <p>
        {count(total)}{" "}
        {plural(total, "warning", "warnings")}: these products are stored, but
        from {first} on they would be refused.
      </p>
      <ProblemList
        details={warning.slice(0, SHOWN)}
        more={total - Math.min(SHOWN, warning.length)}
      />
    </div>
  );
}
