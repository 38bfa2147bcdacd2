/** A cluster of PostgreSQL servers on this machine, by the script of `citus`. */
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(
  new URL("../../../shared/citus/cluster", import.meta.url),
);

export class Cluster implements AsyncDisposable {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** null: there is no script to start one. */
  static async start(workers = 2): Promise<Cluster | null> {
    try {
      await Deno.stat(SCRIPT);
    } catch {
      return null;
    }
    const folder = await Deno.makeTempDir({ prefix: "seller-cluster-" });
    const cluster = new Cluster(folder);
    await cluster.run("start", `${workers}`);
    return cluster;
  }

  /** Runs a command of the script; what it prints. */
  async run(command: string, ...args: string[]): Promise<string> {
    const { success, stdout, stderr } = await new Deno.Command("bash", {
      args: [SCRIPT, command, this.#folder, ...args],
    }).output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
    if (!success) throw new Error(`${command}: ${text(stderr)}`);
    return text(stdout);
  }

  /** A new database, by way of the coordinator. */
  async database(name: string): Promise<string> {
    const said = await this.run("database", name);
    return said.split("\n").at(-1)!;
  }

  /** The URL of a database by way of a node; 0 is the coordinator. */
  url(node: number, name: string): Promise<string> {
    return this.run("url", `${node}`, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run("stop");
  }
}
