/** A seller: the owner of products, transactions and webhooks. */
export interface Seller {
  /** UUID, version 7. */
  id: string;
  /** Small and unique; used only internally, as the first column of keys. */
  no: number;
  /** Unique; the operator's name for the seller. */
  name: string;
}

/** A seller who makes a request, with the id of the key that it carries. */
export interface Caller extends Seller {
  keyId: string;
}

/** A suspended seller is refused; its deliveries and images wait. */
export const SELLER_STATUSES = ["active", "suspended"] as const;
export type SellerStatus = typeof SELLER_STATUSES[number];
