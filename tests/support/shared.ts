/**
 * Servers that all test files of a process share. Each file has its own
 * isolate, so they find a server by a folder. A server ends with the process.
 */
import { join } from "node:path";

export interface SharedServer {
  /** The address that tests use. */
  address: string;
  pid: number;
  /** The signal that ends it. */
  signal: "QUIT" | "KILL";
  /** A folder that is removed with it. */
  folder: string;
}

/** The address of the shared server of this kind; the first caller starts it. */
export async function startOrFind(
  kind: string,
  start: () => Promise<SharedServer>,
): Promise<string> {
  // Process ids are reused, but not together with the same start time.
  const started = (await Deno.readTextFile("/proc/self/stat")).split(" ")[21];
  const folder = join(
    temporaryFolder(),
    `seller-${kind}-of-${Deno.pid}-${started}`,
  );
  const file = join(folder, "address");
  try {
    await Deno.mkdir(folder);
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    return await readWhenThere(file);
  }
  const server = await start();
  endWithProcess(server, folder);
  await Deno.writeTextFile(`${file}.part`, server.address);
  await Deno.rename(`${file}.part`, file);
  return server.address;
}

async function readWhenThere(file: string): Promise<string> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    try {
      return await Deno.readTextFile(file);
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}

/** Ends the server when the test process has ended. */
function endWithProcess(server: SharedServer, folder: string): void {
  const script = 'tail --pid="$1" -f /dev/null; kill -"$5" "$2"; ' +
    'while kill -0 "$2"; do sleep 0.1; done; rm -rf "$3" "$4"';
  const ids = [Deno.pid, server.pid].map(String);
  new Deno.Command("sh", {
    args: ["-c", script, "sh", ...ids, server.folder, folder, server.signal],
    cwd: "/",
    detached: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn().unref();
}

export function temporaryFolder(): string {
  return Deno.env.get("TMPDIR") ?? "/tmp";
}
