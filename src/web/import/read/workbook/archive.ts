/**
 * Reads the unpacked size that a ZIP archive declares. The library for workbooks
 * unpacks no more bytes of a file than the archive declares.
 */

/** The signatures of an entry of the directory, and of the directory's end. */
const ENTRY = 0x02014b50;
const END = 0x06054b50;
const END_BYTES = 22;
const LONGEST_COMMENT = 0xffff;

/** The compressed size of an empty file. */
const EMPTY = 2;

/**
 * The unpacked bytes of all files; null if the archive is damaged or does not
 * declare them.
 */
export function unpackedSize(archive: ArrayBuffer): number | null {
  const view = new DataView(archive);
  const end = endOf(view);
  if (end === null) return null;
  const entries = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  let size = 0;
  for (let i = 0; i < entries; i++) {
    if (at + 46 > end || view.getUint32(at, true) !== ENTRY) return null;
    const packed = view.getUint32(at + 20, true);
    const unpacked = view.getUint32(at + 24, true);
    if (unpacked === 0 && packed > EMPTY) return null;
    size += unpacked;
    at += 46 + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) +
      view.getUint16(at + 32, true);
  }
  return size;
}

/** The offset of the directory's end record; null if there is none. */
function endOf(view: DataView): number | null {
  const last = view.byteLength - END_BYTES;
  for (let at = last; at >= 0 && at >= last - LONGEST_COMMENT; at--) {
    if (view.getUint32(at, true) === END) return at;
  }
  return null;
}
