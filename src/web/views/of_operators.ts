/** The views of operators. */
export { AuditView } from "./audit.tsx";
export { OperatorView } from "./operator.tsx";
export { RefusalsView } from "./refusals.tsx";
export { ReviewsView } from "./reviews.tsx";
export { SellerView } from "./seller.tsx";
export { SellersView } from "./sellers.tsx";
