/**
 * A user's choices for the columns of a table. The service stores the choices of
 * each seller, and the page uses them for tables with the same column names.
 */
import { ApiError, type Client } from "../../../client/mod.ts";
import type { ColumnField } from "../../lib/column_field.ts";

/** The choices that differ from the proposal. */
export interface ChosenColumns {
  /** The chosen fields by column name. */
  targets: Readonly<Record<string, string>>;
  units: Readonly<Record<string, string>>;
  /** The currency of another table, if this table has no chosen currency. */
  earlierCurrency?: string;
  /** The chosen values for all rows, by field. */
  values: Readonly<Partial<Record<ColumnField, string>>>;
}

export const NOTHING_CHOSEN: ChosenColumns = {
  targets: {},
  units: {},
  values: {},
};

/**
 * The stored choices for this table, or for columns of the same names. Returns
 * no choices if they cannot be loaded.
 */
export async function chosenFor(
  client: Client,
  header: readonly string[],
): Promise<ChosenColumns> {
  const { mappings } = await client.mappings.list({ retryFor: 0 })
    .catch(() => ({ mappings: [] }));
  const own = mappingName(header);
  const sorted = mappings.toSorted((a, b) =>
    Number(a.name === own) - Number(b.name === own) ||
    a.updated_at.localeCompare(b.updated_at)
  );
  const columns = sorted.flatMap(({ columns }) => columns);
  // Two tables probably have the same currency, but not the same columns.
  const values = sorted.flatMap(({ name, values }) =>
    values.filter(({ field }) => name === own || field === "currency")
  );
  const currency = sorted.findLast(({ values }) =>
    values.some(({ field }) => field === "currency")
  );
  return {
    ...(currency !== undefined && currency.name !== own && {
      earlierCurrency: currency.values
        .find(({ field }) => field === "currency")?.value,
    }),
    targets: Object.fromEntries(
      columns.map(({ name, field }) => [name, field]),
    ),
    units: Object.fromEntries(
      columns.flatMap(({ name, unit }) =>
        unit === undefined ? [] : [[name, unit]]
      ),
    ),
    values: {
      ...mappings.length === 0 && await storedCurrency(client),
      ...Object.fromEntries(values.map(({ field, value }) => [field, value])),
    },
  };
}

/** The currency of a stored product. */
async function storedCurrency(
  client: Client,
): Promise<ChosenColumns["values"]> {
  const { products } = await client.products.list({ limit: 1 }, { retryFor: 0 })
    .catch(() => ({ products: [] }));
  const currency = products[0]?.price?.currency;
  return currency === undefined ? {} : { currency };
}

/**
 * Stores the choices. If the quota of mappings is used up, the oldest mapping is
 * deleted first. Other errors are ignored: the page then proposes the former
 * columns for the next file.
 */
export async function keepChosen(
  client: Client,
  header: readonly string[],
  { targets, units, values }: ChosenColumns,
): Promise<void> {
  const name = mappingName(header);
  const mapping = {
    columns: Object.entries(targets).map(([name, field]) => ({
      name,
      field,
      unit: units[name],
    })),
    values: Object.entries(values).map(([field, value]) => ({ field, value })),
  };
  try {
    await client.mappings.put({ name, mapping });
  } catch (error) {
    if (!isQuotaExceeded(error)) return;
    const { mappings } = await client.mappings.list();
    const [oldest] = mappings
      .toSorted((a, b) => a.updated_at.localeCompare(b.updated_at));
    await client.mappings.delete({ name: oldest.name });
    await client.mappings.put({ name, mapping });
  }
}

function isQuotaExceeded(error: unknown): boolean {
  return error instanceof ApiError &&
    error.details.some(({ code }) => code === "quota_exceeded");
}

/** The name of a table's mapping: a hash of its header (FNV-1a, 64 bits). */
function mappingName(header: readonly string[]): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(header.join("\t"))) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return `columns-${hash.toString(16).padStart(16, "0")}`;
}
