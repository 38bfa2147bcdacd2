/** Finds the smallest file that still fails. */
import {
  type Grid,
  withFamilies,
  withoutColumn,
  type Writing,
} from "./grid.ts";
import { type Outcome, sell } from "./merchant.ts";
import { fileOf } from "./write.ts";

const PLAIN: Writing = {
  kind: "csv",
  delimiter: ";",
  encoding: "utf-8",
  bom: false,
  sep: false,
  eol: "\n",
  quotes: "few",
};

/** The fields that went wrong, in order. */
export function faultsOf({ findings }: Outcome): string[] {
  return [
    ...new Set(
      findings.filter(({ verdict }) =>
        verdict === "wrong" || verdict === "lost"
      )
        .map(({ field, verdict }) => `${field} ${verdict}`),
    ),
  ];
}

export async function smallest(grid: Grid): Promise<Grid> {
  const [fault] = faultsOf(await sell(grid, fileOf(grid)));
  const fails = async (one: Grid) =>
    faultsOf(await sell(one, fileOf(one))).includes(fault);
  let least = grid;
  const attempt = async (one: Grid) => {
    if (!await fails(one)) return false;
    least = one;
    return true;
  };
  await attempt({ ...least, above: [] });
  if (least.writing.kind === "csv") {
    await attempt({ ...least, writing: PLAIN });
  }
  for (let changed = true; changed;) {
    changed = false;
    for (const family of new Set(least.products.map(({ family }) => family))) {
      const others = new Set(least.products.map(({ family }) => family));
      others.delete(family);
      if (others.size > 0 && await attempt(withFamilies(least, others))) {
        changed = true;
      }
    }
    for (let column = least.heads.length - 1; column >= 0; column--) {
      if (least.heads.length < 2) break;
      if (column >= least.heads.length) continue;
      if (await attempt(withoutColumn(least, column))) changed = true;
    }
    for (let row = least.rows.length - 1; row >= 0; row--) {
      if (least.rows[row].family !== null) continue;
      const rows = least.rows.toSpliced(row, 1);
      if (await attempt({ ...least, rows })) changed = true;
    }
  }
  return least;
}
