/** Proposes SKUs for rows without a SKU, made of other texts of the row. */
import type { SlicedWork } from "../../lib/slices.ts";
import type { Table } from "../read/csv.ts";
import { namesIn } from "../shops/shops.ts";
import type { ColumnMapping } from "./spreadsheet.ts";

/** The maximum length of a proposal without its number. */
const LONGEST = 60;

/** The number of rows that are examined between two pauses. */
const STEP = 250;

/** Unique proposals for rows without a SKU, by the index of the row. */
export function* skuProposals(
  { header, rows }: Table,
  { targets, nameColumns }: ColumnMapping,
): SlicedWork<Map<number, string>> {
  const sku = targets.indexOf("sku");
  const proposals = new Map<number, string>();
  if (sku < 0) return proposals;
  const names = namesIn(header);
  const handle = names.indexOf("Handle");
  const title = targets.indexOf("title");
  const options = [...targets.keys()].filter((i) =>
    handle >= 0 && targets[i] === "attribute" && nameColumns[i] >= 0
  );
  const used = new Set<string>();
  const without: number[] = [];
  for (const [i, row] of rows.entries()) {
    if (row[sku] === "") without.push(i);
    else used.add(row[sku].toUpperCase());
    if (i % STEP === STEP - 1) yield;
  }
  for (const [n, i] of without.entries()) {
    if (n % STEP === STEP - 1) yield;
    const row = rows[i];
    const parts = [
      row[handle >= 0 ? handle : title] ?? "",
      ...options.map((column) => row[column])
        .filter((text) => text !== "Default Title"),
    ];
    const base = slug(parts.join(" "));
    if (base === "") continue;
    let proposal = base;
    for (let n = 2; used.has(proposal); n++) proposal = `${base}-${n}`;
    used.add(proposal);
    proposals.set(i, proposal);
  }
  return proposals;
}

/** Converts `Blå mugg` to `BLA-MUGG`. */
function slug(text: string): string {
  const words = text.normalize("NFD").replace(/\p{M}/gu, "")
    .toUpperCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  return words.join("-").slice(0, LONGEST);
}
