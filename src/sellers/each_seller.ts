import type { Db } from "../database/db.ts";
import { BEFORE_ALL_IDS } from "../lib/ids.ts";
import type { Seller } from "./seller.ts";

/**
 * SQL condition for sellers that want mail, including suspended ones, whose mail
 * is sent later.
 */
export const WANTS_MAIL = `sellers.status <> 'removed'
  AND sellers.email IS NOT NULL AND sellers.email_off_at IS NULL`;

type SellerIds = Pick<Seller, "id" | "no">;

/**
 * Does a maintenance job's work for each seller in a state, in the order of ids.
 * If the work fails for one seller, it continues with the next, because only
 * that seller's section may be unreachable. The first error is thrown at the
 * end.
 */
export async function* eachSeller(
  db: Pick<Db, "read">,
  state: "status = 'removed'" | "review = 'ending'" | typeof WANTS_MAIL,
  work: (seller: SellerIds) => AsyncGenerator<number, void>,
): AsyncGenerator<number, void> {
  let failure: { error: unknown } | undefined;
  const next = (after: string) =>
    db.read((sql) =>
      sql.get<SellerIds>(
        `SELECT id, seller_no AS no FROM sellers
         WHERE ${state} AND id > ? ORDER BY id LIMIT 1`,
        [after],
      ), { single: true });
  for (
    let seller = await next(BEFORE_ALL_IDS);
    seller !== undefined;
    seller = await next(seller.id)
  ) {
    try {
      yield* work(seller);
    } catch (error) {
      failure ??= { error };
    }
  }
  if (failure) throw failure.error;
}
