/** Requests as bytes on a socket, for what `fetch` would not send. */

/**
 * Writes `request` to the server at `url`; answers the first answer as text,
 * or what came before the server hung up. A server that refuses a body it has
 * not read keeps the connection open, so this does not wait for its end.
 */
export async function raw(
  url: string,
  request: string | Uint8Array,
): Promise<string> {
  const { hostname, port } = new URL(url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const bytes = typeof request === "string"
    ? new TextEncoder().encode(request)
    : request;
  await connection.write(bytes);
  const chunk = new Uint8Array(65_536);
  const decoder = new TextDecoder();
  let answer = "";
  while (!isWhole(answer)) {
    const size = await connection.read(chunk).catch(() => null);
    if (size === null) break;
    answer += decoder.decode(chunk.subarray(0, size), { stream: true });
  }
  return answer;
}

/** Whether an answer has all its headers and its declared body. */
function isWhole(answer: string): boolean {
  const headersEnd = answer.indexOf("\r\n\r\n");
  if (headersEnd === -1) return false;
  const length = /^content-length: (\d+)/im.exec(answer)?.[1] ?? "0";
  const body = new TextEncoder().encode(answer.slice(headersEnd + 4));
  return body.length >= Number(length);
}

/** The status of a raw answer; 0 when the connection was closed without one. */
export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.[01] (\d{3})/.exec(answer)?.[1] ?? 0);
}
