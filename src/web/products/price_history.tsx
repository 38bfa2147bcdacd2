/** The price history of a product: a chart and a table of the changes. */
import type { Client, PriceChange, Product } from "../../client/mod.ts";
import { now } from "../lib/browser.ts";
import { LocalTime, useLoaded, WhenLoaded } from "../ui/components.tsx";
import { formatMoney } from "../lib/money.ts";
import { linkTo } from "../state/route.ts";
import { type Column, Table } from "../ui/table.tsx";
import { SaleNote } from "./sale.tsx";

/**
 * The change of a product's price by an upload; null if the upload did not
 * change the price, or if retention has deleted the change.
 */
export async function fetchUploadPriceChange(
  client: Client,
  id: string,
  transaction: string,
  signal?: AbortSignal,
): Promise<PriceChange | null> {
  const { changes } = await client
    .products.history({ sku_or_id: id, attribute: "price" }, { signal });
  return changes.find(({ by }) => by.endsWith(` ${transaction}`)) ?? null;
}

/** The former and the new price of a change, as texts. */
export function pricesOfChange(
  { from, from_currency, to, currency }: PriceChange,
): [string, string] {
  return [
    formatMoney(from, from_currency ?? currency),
    formatMoney(to, currency),
  ];
}

/** Shows the change of a product's price by an upload. */
export function UploadPriceChange({ client, id, transaction }: {
  client: Client;
  id: string;
  transaction: string;
}) {
  const { data } = useLoaded(
    (signal) => fetchUploadPriceChange(client, id, transaction, signal),
    [client, id, transaction],
  );
  return data && <span>Price {pricesOfChange(data).join(" → ")}</span>;
}

const NO_LABELS: ReadonlyMap<string, string> = new Map();

const WIDTH = 480;
const HEIGHT = 96;
/** The space above and below the line. */
const MARGIN = 8;

const PRICE_COLUMNS: readonly Column<PriceChange>[] = [
  { label: "Changed", cell: ({ at }) => <LocalTime iso={at} exact /> },
  {
    label: "From",
    right: true,
    cell: (change) => pricesOfChange(change)[0],
  },
  {
    label: "To",
    right: true,
    cell: (change) => pricesOfChange(change)[1],
  },
];

function ChangeOrigin({ by }: { by: string }) {
  const [kind, id] = by.split(" ");
  if (kind !== "upload") return <>{kind}</>;
  return <a href={linkTo("uploads", id)}>upload</a>;
}

/** The columns of the table; `labels` has the labels of keys by id. */
function columnsWithLabels(
  labels: ReadonlyMap<string, string>,
): readonly Column<PriceChange>[] {
  return [
    ...PRICE_COLUMNS,
    {
      label: "By",
      cell: ({ by, key_id }) => (
        <>
          <ChangeOrigin by={by} />
          {key_id && <>, key {labels.get(key_id) || <code>{key_id}</code>}</>}
        </>
      ),
    },
  ];
}

async function fetchKeyLabels(
  client: Client,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const { keys } = await client.keys.list({ signal });
  return new Map(keys.map(({ key_id, label }) => [key_id, label]));
}

export function PriceHistory({ client, product }: {
  client: Client;
  product: Product;
}) {
  const { id, updated_at, lowest_price } = product;
  const loaded = useLoaded(
    (signal) =>
      client.products.history({ sku_or_id: id, attribute: "price" }, {
        signal,
      }),
    [client, id, updated_at],
  );
  const labels = useLoaded(
    (signal) => fetchKeyLabels(client, signal),
    [client],
  );
  return (
    <section class="card" aria-label="Price">
      <h2>Price</h2>
      <SaleNote product={product} />
      {lowest_price && (
        <p>
          The lowest price in the {lowest_price.days}{" "}
          days before the current price was{" "}
          <strong>
            {formatMoney(lowest_price.amount, lowest_price.currency)}
          </strong>.
        </p>
      )}
      <WhenLoaded loaded={loaded}>
        {({ changes, next }) =>
          changes.length === 0
            ? <p class="quiet">No price change is stored.</p>
            : (
              <>
                <PriceChart changes={changes} />
                <Table
                  label="Price changes"
                  columns={columnsWithLabels(labels.data ?? NO_LABELS)}
                  rows={changes}
                  keyOf={({ at }) => at}
                />
                {next && (
                  <p class="quiet">
                    The table has the last {changes.length} changes.
                  </p>
                )}
              </>
            )}
      </WhenLoaded>
    </section>
  );
}

/** A chart of the price; the newest change is the first of `changes`. */
function PriceChart({ changes }: { changes: readonly PriceChange[] }) {
  const { currency } = changes[0];
  const currencyChange = changes.findIndex((change) =>
    (change.from_currency ?? currency) !== currency
  );
  // The chart begins at the last change of the currency.
  const shown = changes.slice(
    0,
    currencyChange < 0 ? changes.length : currencyChange + 1,
  )
    .toReversed();
  const first = shown[0];
  const former = currencyChange < 0 ? [Number(first.from)] : [];
  const prices = [...former, ...shown.map(({ to }) => Number(to))];
  // bounded: a page of changes
  const [low, high] = [Math.min(...prices), Math.max(...prices)];
  const begin = Date.parse(first.at);
  const end = Math.max(now(), begin + 1);
  // The line of the price before the first change has a tenth of the width.
  const start = former.length === 0 ? begin : begin - (end - begin) / 9;
  const x = (at: number) => (at - start) / (end - start) * WIDTH;
  const y = (price: number) =>
    high === low
      ? HEIGHT / 2
      : HEIGHT - MARGIN - (price - low) / (high - low) * (HEIGHT - 2 * MARGIN);
  const steps = shown.map(({ at, to }) =>
    `H${x(Date.parse(at)).toFixed(1)} V${y(Number(to)).toFixed(1)}`
  );
  const shownPrice = (price: number) => formatMoney(`${price}`, currency);
  return (
    <figure class="chart">
      <div class="scaled">
        <p class="scale quiet" aria-hidden="true">
          <span>{shownPrice(high)}</span>
          <span>{high === low ? "" : shownPrice(low)}</span>
        </p>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`The price in ${currency}: from ${shownPrice(low)} to ${
            shownPrice(high)
          } in ${shown.length} changes; the table has each.`}
        >
          <path
            class="line"
            d={`M0 ${y(prices[0]).toFixed(1)} ${steps.join(" ")} H${WIDTH}`}
          />
        </svg>
      </div>
      <p class="row quiet" aria-hidden="true">
        <span class="grow">
          <LocalTime iso={new Date(start).toISOString()} />
        </span>
        <span>now</span>
      </p>
    </figure>
  );
}
