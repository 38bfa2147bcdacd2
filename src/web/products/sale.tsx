/** The sale and the current price of a product. */
import type { SaleElement } from "../../catalogue/fields.ts";
import type { Product } from "../../client/mod.ts";
import { formatMoney } from "../lib/money.ts";
import { LocalTime } from "../ui/components.tsx";

/** The labels of the inputs for a sale. */
export const SALE_LABELS: Readonly<Record<SaleElement, string>> = {
  price: "Sale price",
  from: "Begins (empty: at once)",
  until: "Ends",
};

/**
 * The current price of a product, with the normal price during a sale, or with
 * the price of a planned sale.
 */
export function CurrentPrice({ product }: { product: Product }) {
  const { price, current_price: current, sale } = product;
  if (!price) return <>–</>;
  const normal = formatMoney(price.amount, price.currency);
  if (current) {
    return (
      <>
        <s class="quiet">{normal}</s>{" "}
        {formatMoney(current.amount, current.currency)}
      </>
    );
  }
  if (sale?.state !== "planned") return <>{normal}</>;
  return (
    <>
      {normal}
      <div class="quiet">
        {formatMoney(sale.price, price.currency)} from{" "}
        <LocalTime iso={sale.from} />
      </div>
    </>
  );
}

/** The state, price and times of a product's sale. */
export function SaleNote({ product: { sale, price } }: { product: Product }) {
  if (!sale || !price) return null;
  const states = {
    planned: "is planned",
    on: "is on",
    over: "is over",
  };
  return (
    <p>
      A sale {states[sale.state]}:{" "}
      <strong>{formatMoney(sale.price, price.currency)}</strong> from{" "}
      <LocalTime iso={sale.from} exact /> until{" "}
      <LocalTime iso={sale.until} exact />.
    </p>
  );
}
