/** A seller: the owner of products, transactions and webhooks. */
export interface Seller {
  /** UUID, version 7. */
  id: string;
  /** Unique; what the operator calls the seller. */
  name: string;
}
