/** Sample images, small enough to be part of the code. */
import { Buffer } from "node:buffer";
import { crc32, deflateSync } from "node:zlib";
import { IMAGE_TYPES, type ImageType } from "../images/image_types.ts";

/** A 16 × 16 pixel image of each other type, base64. */
const FIXED: Readonly<Record<Exclude<ImageType, "png">, string>> = {
  jpeg:
    "/9j/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/wAARCAAQABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAP/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAABf/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AIgExL//2Q==",
  gif:
    "R0lGODlhEAAQAIAAAExpcSKIzCH5BAUAAAAALAAAAAAQABAAAAIOjI+py+0Po5y02ouzPgUAOw==",
  webp:
    "UklGRjIAAABXRUJQVlA4ICYAAACQAQCdASoQABAABABoJaACdLoAA5gA/tDK+1MEkZAH/FrWzKXQAA==",
  avif:
    "AAAAHGZ0eXBhdmlmAAAAAG1pZjFhdmlmbWlhZgAAANZtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAACJpbG9jAAAAAERAAAEAAQAAAAAA+gABAAAAAAAAACIAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABhdjAxAAAAAA5waXRtAAAAAAABAAAAVmlwcnAAAAA4aXBjbwAAAAxhdjFDgSACAAAAABRpc3BlAAAAAAAAABAAAAAQAAAAEHBpeGkAAAAAAwgICAAAABZpcG1hAAAAAAAAAAEAAQOBAgMAAAAqbWRhdBIACgg4DP/aQENBpDIUHEJi5OAAFgAAdX1ZvbuXHCvjSUc=",
};

/** The content type for the file extension of a picture's name. */
export function pictureType(name: string): string {
  return `image/${ending(name)}`;
}

/**
 * A picture of the type that the extension of `name` gives; null if unknown.
 */
export function picture(name: string): Uint8Array<ArrayBuffer> | null {
  const extension = ending(name);
  const type = IMAGE_TYPES.find((type) => type === extension);
  if (type === undefined) return null;
  if (type === "png") return png(64, crc32(name));
  return new Uint8Array(Buffer.from(FIXED[type], "base64"));
}

/** The extension of a name; `jpg` is `jpeg`. */
function ending(name: string): string {
  const extension = name.slice(name.lastIndexOf(".") + 1);
  return extension === "jpg" ? "jpeg" : extension;
}

/** A square of one colour (https://www.w3.org/TR/png-3/). */
function png(side: number, colour: number): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2], 8); // 8 bits a sample, red green blue
  const row = Buffer.alloc(1 + side * 3);
  for (let x = 0; x < side; x++) {
    row.writeUIntBE(colour & 0xffffff, 1 + x * 3, 3);
  }
  return new Uint8Array(Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.concat(Array(side).fill(row)))),
    chunk("IEND", Buffer.alloc(0)),
  ]));
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
