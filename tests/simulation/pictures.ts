/** Valid and invalid image files. */
import { picture } from "../../src/sandbox/pictures.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A valid picture of the type of the name's extension; null for others. */
export { picture };

/** A PNG whose header declares more pixels than are accepted. */
export function tooManyPixels(): Bytes {
  const bytes = picture("huge.png")!;
  new DataView(bytes.buffer).setUint32(16, 2_000_000);
  return bytes;
}

/** A PNG without its header chunk. */
export function corrupt(): Bytes {
  const bytes = picture("corrupt.png")!;
  bytes.fill(0xff, 12, 33);
  return bytes;
}

/** A GIF whose only frame is repeated. */
export function animation(frames: number): Bytes {
  const still = picture("still.gif")!;
  const trailer = still.length - 1;
  const start = still.indexOf(0x21);
  const frame = still.subarray(start, trailer);
  const bytes = new Uint8Array(start + frames * frame.length + 1);
  bytes.set(still.subarray(0, start));
  for (let n = 0; n < frames; n++) bytes.set(frame, start + n * frame.length);
  bytes[bytes.length - 1] = still[trailer];
  return bytes;
}

/** A BMP, which is not accepted. */
export function bitmap(): Bytes {
  const bytes = new Uint8Array(600);
  bytes.set(new TextEncoder().encode("BM"));
  return bytes;
}

export function page(): Bytes {
  return new TextEncoder().encode("<!doctype html><p>This is no image</p>");
}
