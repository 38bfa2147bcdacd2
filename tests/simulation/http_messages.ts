/** HTTP/1.1 for the simulated hosts. */
import { joinBlocks } from "../../src/lib/blocks.ts";

export interface HostRequest {
  method: string;
  /** Path and query. */
  target: string;
  /** By lower-case name. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array<ArrayBuffer>;
}

/** An answer, which need not be a correct one. */
export interface HostAnswer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array<ArrayBuffer>;
  /** How the end of the body is marked; by a length by default. */
  framing?: "length" | "chunked" | "close";
  /** The length that it declares; the true one by default. */
  declares?: number;
  /** Whether zeros follow the body until the client disconnects. */
  endless?: boolean;
  /** Virtual milliseconds before the answer begins. */
  afterMs?: number;
  /** Pieces of this many bytes, with pauses. */
  drip?: { bytes: number; everyMs: number };
  /** Ends after this share of its bytes, in this way. */
  breaks?: { share: number; how: "reset" | "close" | "silence" };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const NOTHING = new Uint8Array(0);
const CHUNK = 1_000;

/** Reads requests from bytes that arrive in pieces of any size. */
export class RequestReader {
  #bytes: Uint8Array<ArrayBuffer> = NOTHING;

  append(piece: Uint8Array<ArrayBuffer>): void {
    this.#bytes = this.#bytes.length === 0
      ? piece
      : joinBlocks([this.#bytes, piece]);
  }

  /** The next whole request; null until it has arrived. */
  next(): HostRequest | null {
    const end = headEnd(this.#bytes);
    if (end < 0) return null;
    const head = decoder.decode(this.#bytes.subarray(0, end));
    const [line, ...fields] = head.trimEnd().split("\r\n");
    const headers = Object.fromEntries(fields.map((field) => {
      const colon = field.indexOf(":");
      return [
        field.slice(0, colon).toLowerCase(),
        field.slice(colon + 1).trim(),
      ];
    }));
    const length = Number(headers["content-length"] ?? 0);
    if (this.#bytes.length < end + length) return null;
    const body = this.#bytes.slice(end, end + length);
    this.#bytes = this.#bytes.slice(end + length);
    const [method, target] = line.split(" ");
    return { method, target, headers, body };
  }
}

/** The bytes of an answer. */
export function encodeAnswer(
  method: string,
  answer: HostAnswer,
): Uint8Array<ArrayBuffer> {
  const { status, headers = {}, body = NOTHING, framing = "length" } = answer;
  const hasBody = method !== "HEAD" && status !== 204 && status !== 304;
  const lines = Object.entries(headers).map(([name, value]) =>
    `${name}: ${value}`
  );
  if (status !== 204 && status !== 304) {
    if (framing === "length") {
      lines.push(`Content-Length: ${answer.declares ?? body.length}`);
    } else if (framing === "chunked") lines.push("Transfer-Encoding: chunked");
  }
  if (framing === "close") lines.push("Connection: close");
  const head = encoder.encode(
    [`HTTP/1.1 ${status} As Told`, ...lines, "", ""].join("\r\n"),
  );
  if (!hasBody) return head;
  return joinBlocks([head, framing === "chunked" ? chunked(body) : body]);
}

function chunked(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < body.length; at += CHUNK) {
    const piece = body.subarray(at, at + CHUNK);
    pieces.push(
      encoder.encode(`${piece.length.toString(16)}\r\n`),
      piece,
      encoder.encode("\r\n"),
    );
  }
  return joinBlocks([...pieces, encoder.encode("0\r\n\r\n")]);
}

/** The index after the empty line; -1 if it has not arrived. */
function headEnd(bytes: Uint8Array): number {
  for (let at = 0; (at = bytes.indexOf(13, at)) >= 0; at++) {
    if (bytes[at + 1] === 10 && bytes[at + 2] === 13 && bytes[at + 3] === 10) {
      return at + 4;
    }
  }
  return -1;
}
