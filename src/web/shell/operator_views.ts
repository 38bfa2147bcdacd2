/** The views of operators. */
export { AuditView } from "../operator/audit.tsx";
export { CategoriesView } from "../operator/categories.tsx";
export { OperatorView } from "../operator/operator.tsx";
export { RefusalsView } from "../uploads/refusals.tsx";
export { ReviewsView } from "../operator/reviews.tsx";
export { SellerView } from "../operator/seller.tsx";
export { SellersView } from "../operator/sellers.tsx";
