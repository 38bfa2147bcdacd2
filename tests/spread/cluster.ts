/** A cluster of PostgreSQL servers on this machine, by the script of `citus`. */
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(
  new URL("../../../shared/citus/cluster", import.meta.url),
);

export class Cluster implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** The one that `deno task spread` has started; null: it is not at hand. */
  static given(): Cluster | null {
    const folder = Deno.env.get("SELLER_TEST_CLUSTER");
    return folder === undefined ? null : new Cluster(folder);
  }

  /**
   * null: there is no script to start one. What is committed to a `hurried` one
   * outlives a killed server, not the machine.
   */
  static async start(
    workers = 2,
    { hurried = true } = {},
  ): Promise<Cluster | null> {
    try {
      await Deno.stat(SCRIPT);
    } catch {
      return null;
    }
    const folder = await Deno.makeTempDir({ prefix: "seller-cluster-" });
    const cluster = new Cluster(folder);
    await cluster.run("start", `${workers}`);
    for (let node = 0; hurried && node <= workers; node++) {
      await cluster.#hurry(node);
    }
    return cluster;
  }

  async #hurry(node: number): Promise<void> {
    for (const setting of ["fsync", "full_page_writes"]) {
      await this.sql(node, `ALTER SYSTEM SET ${setting} = off`);
    }
    await this.sql(node, "SELECT pg_reload_conf()");
  }

  /** Of the first process of a node. */
  async pid(node: number): Promise<number> {
    const file = `${this.folder}/${node}/data/postmaster.pid`;
    const [pid] = (await Deno.readTextFile(file)).split("\n");
    return Number(pid);
  }

  /** The numbers of all nodes but the coordinator. */
  async workers(): Promise<number[]> {
    const nodes = await Array.fromAsync(Deno.readDir(this.folder));
    return nodes.map(({ name }) => Number(name)).filter((n) => n > 0).sort();
  }

  /** Runs a statement on a node, as its superuser; the rows, unaligned. */
  sql(node: number, statement: string, database = "seller"): Promise<string> {
    const args = ["-d", database, "-At", "-c", statement];
    return this.run("psql", `${node}`, ...args);
  }

  /** Runs a command of the script; what it prints. */
  async run(command: string, ...args: string[]): Promise<string> {
    const { success, stdout, stderr } = await new Deno.Command("bash", {
      args: [SCRIPT, command, this.folder, ...args],
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

  /** A server that is added later does not join this database. */
  async forget(name: string): Promise<void> {
    const file = `${this.folder}/databases`;
    const names = (await Deno.readTextFile(file)).split("\n");
    const others = names.filter((other) => other !== name);
    await Deno.writeTextFile(file, others.join("\n"));
  }

  /** The URL of a database by way of a node; 0 is the coordinator. */
  url(node: number, name: string): Promise<string> {
    return this.run("url", `${node}`, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run("stop");
  }
}
