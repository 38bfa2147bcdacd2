/// <reference lib="deno.worker" />
/**
 * A sink in its own thread: answers 200 at once, but never at `/hang`, and
 * reports when each event arrived.
 */
export interface Arrival {
  id: string;
  /** Unix milliseconds. */
  at: number;
}

let arrivals: Arrival[] = [];

function answer(request: Request): Response | Promise<Response> {
  if (new URL(request.url).pathname === "/hang") return new Promise(() => {});
  const at = performance.timeOrigin + performance.now();
  const id = request.headers.get("webhook-id");
  if (id !== null) arrivals.push({ id, at });
  return new Response();
}

const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen: () => {} },
  answer,
);
self.postMessage({ port: server.addr.port });
setInterval(() => {
  if (arrivals.length === 0) return;
  self.postMessage({ arrivals });
  arrivals = [];
}, 20);
