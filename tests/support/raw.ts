/** Sends requests as bytes on a socket, because `fetch` would not send them. */

/**
 * Writes `request` to the server at `url`; returns the first answer as text, or
 * what came before the server disconnected. A server that refuses a body
 * without reading it keeps the connection open, so this does not wait for its
 * end.
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

/** The status of a raw answer; 0 if the connection was closed without one. */
export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.[01] (\d{3})/.exec(answer)?.[1] ?? 0);
}

/** How long to listen on a silent socket. */
const SILENCE_MS = 300;

/**
 * The statuses of all answers until the server is silent or disconnects; for
 * requests that may be answered once, many times, or never.
 */
export async function statusesOf(
  url: string,
  request: Uint8Array,
  silenceMs = SILENCE_MS,
): Promise<number[]> {
  const { hostname, port } = new URL(url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  let timer = setTimeout(() => connection.close(), silenceMs);
  const chunk = new Uint8Array(65_536);
  let text = "";
  try {
    await connection.write(request);
    for (;;) {
      const size = await connection.read(chunk);
      if (size === null) break;
      text += new TextDecoder("latin1").decode(chunk.subarray(0, size));
      clearTimeout(timer);
      timer = setTimeout(() => connection.close(), silenceMs);
    }
    connection.close();
  } catch {
    // The server was silent for long enough, or reset the connection.
  }
  clearTimeout(timer);
  return [...text.matchAll(/^HTTP\/1\.[01] (\d{3})/gm)]
    .map(([, status]) => Number(status));
}
