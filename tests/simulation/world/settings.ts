/** Settings with extreme values. */
import type { Config } from "../../../src/config.ts";
import type { Random } from "../../support/random.ts";
import { chance, pick } from "./choice.ts";

export type Settings = Pick<
  Config,
  | "rateLimit"
  | "bodyLimit"
  | "bodyBudget"
  | "imageLimit"
  | "productLimit"
  | "imageQuota"
  | "keepUploadsDays"
  | "undoDays"
  | "keepEventsDays"
  | "keepReferencesDays"
  | "keepImagesDays"
>;

/** In most worlds, most settings have their defaults. */
export function drawSettings(random: Random, share: number): Settings {
  const rarely = <T>(usual: T, edges: readonly T[]) =>
    chance(random, share) ? pick(random, edges) : usual;
  const bodyLimit = rarely(16_777_216, [20_000, 65_536]);
  return {
    rateLimit: rarely(1_200, [0, 20, 60, 109, 300]),
    bodyLimit,
    bodyBudget: rarely(268_435_456, [bodyLimit * 12]),
    imageLimit: rarely(16_777_216, [2_000]),
    productLimit: rarely(1_000_000, [400]),
    imageQuota: rarely(10_737_418_240, [100_000]),
    keepUploadsDays: rarely(90, [0, 1]),
    undoDays: rarely(30, [0, 1]),
    keepEventsDays: rarely(30, [0, 1]),
    keepReferencesDays: rarely(400, [0, 2]),
    keepImagesDays: rarely(0, [1]),
  };
}
