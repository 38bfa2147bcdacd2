/**
 * People's choices for the columns of their tables, stored with the seller, and
 * used again for the same table or one with such columns.
 */
import { ApiError, type Client } from "../../../client/mod.ts";
import type { ColumnField } from "../../lib/column_field.ts";

/** The choices that differ from the proposal. */
export interface ChosenColumns {
  /** By the name of the column. */
  targets: Readonly<Record<string, string>>;
  units: Readonly<Record<string, string>>;
  /** The currency of another table, where this one has chosen none. */
  earlierCurrency?: string;
  /** Values for all rows, by field. */
  values: Readonly<Partial<Record<ColumnField, string>>>;
}

export const NOTHING_CHOSEN: ChosenColumns = {
  targets: {},
  units: {},
  values: {},
};

/**
 * What was chosen for this table, else for columns of these names; nothing if
 * that cannot be read.
 */
export async function chosenFor(
  client: Client,
  header: readonly string[],
): Promise<ChosenColumns> {
  const { mappings } = await client.listMappings({}, { retryFor: 0 })
    .catch(() => ({ mappings: [] }));
  const own = mappingName(header);
  const sorted = mappings.toSorted((a, b) =>
    Number(a.name === own) - Number(b.name === own) ||
    a.updated_at.localeCompare(b.updated_at)
  );
  const columns = sorted.flatMap(({ columns }) => columns);
  // Of other tables, the currency alone is likely to be the same.
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

/** The currency of a product that the seller has already. */
async function storedCurrency(
  client: Client,
): Promise<ChosenColumns["values"]> {
  const { products } = await client.listProducts({ limit: 1 }, { retryFor: 0 })
    .catch(() => ({ products: [] }));
  const currency = products[0]?.price?.currency;
  return currency === undefined ? {} : { currency };
}

/**
 * Keeps what was chosen. Where the service keeps no more mappings, the oldest
 * one makes room; after any other error nothing is kept, and the page proposes
 * as before.
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
    await client.putMapping({ name, mapping });
  } catch (error) {
    if (!isQuotaExceeded(error)) return;
    const { mappings } = await client.listMappings();
    const [oldest] = mappings
      .toSorted((a, b) => a.updated_at.localeCompare(b.updated_at));
    await client.deleteMapping({ name: oldest.name });
    await client.putMapping({ name, mapping });
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
