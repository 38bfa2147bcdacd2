/** A small host: it handles one request at a time, and five more may wait. */
import { assertEquals } from "@std/assert";
import { boot, product } from "../support/app.ts";
import { until } from "../support/clock.ts";

const SERVER = `
import http.server, socketserver, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self):
        time.sleep(0.011)
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_): pass
class Server(socketserver.TCPServer):
    request_queue_size = 5
server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
`;

/** null if there is no Python on this machine. */
function startServer(): Deno.ChildProcess | null {
  try {
    return new Deno.Command("python3", {
      args: ["-c", SERVER],
      stdout: "piped",
      stderr: "null",
    }).spawn();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    console.log("The small host is left out: python3 is missing.");
    return null;
  }
}

Deno.test("a host with a queue of five connections takes 250 images, upload after upload", async () => {
  const server = startServer();
  if (server === null) return;
  let port = "";
  const reading = server.stdout.pipeThrough(new TextDecoderStream())
    .pipeTo(new WritableStream({ write: (text) => void (port += text) }));
  try {
    await until(() => port.endsWith("\n"), "the port");
    await using app = await boot();
    for (const upload of ["a", "b"]) {
      const images = (n: number) =>
        Array.from(
          { length: 10 },
          (_, m) =>
            `<image>http://127.0.0.1:${port.trim()}/${upload}${n}-${m}.png</image>`,
        ).join("");
      const products = Array.from(
        { length: 25 },
        (_, n) => product(`${upload}${n}`, `<images>${images(n)}</images>`),
      );
      const answer = await app.upload(products.join(""));
      assertEquals(answer.status, 200, answer.text);
    }
  } finally {
    server.kill("SIGKILL");
    await server.status;
    await reading.catch(() => {});
  }
});
