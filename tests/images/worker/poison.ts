/** Images at whose sight the faulty worker falls ill. */
import { picture } from "../../../src/sandbox/pictures.ts";

/** By the width that they say they have. */
export const POISONS = {
  throw: 0xfa170001,
  exit: 0xfa170002,
  hang: 0xfa170003,
  memory: 0xfa170004,
} as const;

export type Poison = keyof typeof POISONS;

/** A PNG that does this to the faulty worker when its header is read. */
export function poisonedImage(poison: Poison): Uint8Array<ArrayBuffer> {
  const bytes = picture("a.png")!;
  new DataView(bytes.buffer).setUint32(16, POISONS[poison]);
  return bytes;
}
