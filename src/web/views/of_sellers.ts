/** The views of sellers, but for the one at the start. */
export { DeliveriesView } from "./deliveries.tsx";
export { ImportView } from "./import.tsx";
export { KeysView } from "./keys.tsx";
export { NewProductView, ProductView } from "./product.tsx";
export { ProductsView } from "./products.tsx";
export { TransactionView } from "./transaction.tsx";
export { UploadsView } from "./uploads.tsx";
export { WebhooksView } from "./webhooks.tsx";
