/** The views of sellers, except the start view, which `app.tsx` imports. */
export { ContactsView } from "../contacts/contacts.tsx";
export { DeliveriesView } from "../webhooks/deliveries.tsx";
export { ImportView } from "../uploads/import.tsx";
export { KeysView } from "../keys/keys.tsx";
export { NewProductView, ProductView } from "../products/product.tsx";
export { ProductsView } from "../products/products.tsx";
export { TransactionView } from "../uploads/transaction.tsx";
export { UploadsView } from "../uploads/uploads.tsx";
export { WebhooksView } from "../webhooks/webhooks.tsx";
