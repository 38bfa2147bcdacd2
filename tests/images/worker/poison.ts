/** Images at which the faulty worker develops a fault. */
import { picture } from "../../../src/sandbox/pictures.ts";

/** The faults, by the width in the image's header. */
export const POISONS = {
  throw: 0xfa170001,
  exit: 0xfa170002,
  hang: 0xfa170003,
  memory: 0xfa170004,
} as const;

export type Poison = keyof typeof POISONS;

/** A PNG that causes this fault when its header is read. */
export function poisonedImage(poison: Poison): Uint8Array<ArrayBuffer> {
  const bytes = picture("a.png")!;
  new DataView(bytes.buffer).setUint32(16, POISONS[poison]);
  return bytes;
}
