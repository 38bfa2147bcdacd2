/** Exports of PrestaShop, and files in the form of its import. */
import type { Table } from "../read/csv.ts";
import { type Gathered, withAttributes } from "./rows.ts";

/** `Colour:Blue:1,Material:Wool:2` are the features of a product. */
export function ofPrestaShop(table: Table): Gathered {
  const features = table.header
    .findIndex((name) => /^feature ?\(/i.test(name));
  if (features < 0) return { table, note: "" };
  return {
    table: withAttributes(
      table,
      (row) =>
        table.rows[row][features].split(",").flatMap((feature) => {
          const [name, value = ""] = feature.split(":")
            .map((part) => part.trim());
          return name === "" || value === "" ? [] : [[name, value] as const];
        }),
    ),
    note: "",
  };
}
