/** A cluster of PostgreSQL servers on this machine, by the script of `citus`. */
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(
  new URL("../../../shared/citus/cluster", import.meta.url),
);

export class CitusCluster implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** The cluster that `deno task spread` has started; null if there is none. */
  static given(): CitusCluster | null {
    const folder = Deno.env.get("SELLER_TEST_CLUSTER");
    return folder === undefined ? null : new CitusCluster(folder);
  }

  /**
   * Starts a cluster; null if there is no script for that. The data of a
   * `hurried` one survive a killed server, but not the machine.
   */
  static async start(
    workers = 2,
    { hurried = true } = {},
  ): Promise<CitusCluster | null> {
    try {
      await Deno.stat(SCRIPT);
    } catch {
      return null;
    }
    const folder = await Deno.makeTempDir({ prefix: "seller-cluster-" });
    const cluster = new CitusCluster(folder);
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

  /** The id of a node's first process. */
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

  /**
   * Runs a statement on a node as its superuser; returns the rows, unaligned.
   */
  sql(node: number, statement: string, database = "seller"): Promise<string> {
    const args = ["-d", database, "-At", "-c", statement];
    return this.run("psql", `${node}`, ...args);
  }

  /** Runs a command of the script; returns its output. */
  async run(command: string, ...args: string[]): Promise<string> {
    const { success, stdout, stderr } = await new Deno.Command("bash", {
      args: [SCRIPT, command, this.folder, ...args],
    }).output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
    if (!success) throw new Error(`${command}: ${text(stderr)}`);
    return text(stdout);
  }

  /** Creates a database through the coordinator. */
  async database(name: string): Promise<string> {
    const printed = await this.run("database", name);
    return printed.split("\n").at(-1)!;
  }

  /** After this, servers that are added do not join this database. */
  async forget(name: string): Promise<void> {
    const file = `${this.folder}/databases`;
    const names = (await Deno.readTextFile(file)).split("\n");
    const others = names.filter((other) => other !== name);
    await Deno.writeTextFile(file, others.join("\n"));
  }

  /** The URL of a database through a node; 0 is the coordinator. */
  url(node: number, name: string): Promise<string> {
    return this.run("url", `${node}`, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run("stop");
  }
}
