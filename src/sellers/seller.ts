/** A seller: the owner of products, transactions and webhooks. */
export interface Seller {
  /** UUID, version 7. */
  id: string;
  /** A small unique number, the first column of primary keys; never shown. */
  no: number;
  /** The operator's name for the seller; unique. */
  name: string;
}

/** The seller that sends a request, with the id of the request's key. */
export interface Caller extends Seller {
  keyId: string;
}

/**
 * Requests of a suspended seller are refused; its deliveries and image downloads
 * wait.
 */
export const SELLER_STATUSES = ["active", "suspended"] as const;
export type SellerStatus = typeof SELLER_STATUSES[number];
