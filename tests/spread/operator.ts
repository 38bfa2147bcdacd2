/**
 * Runs the commands of the handbook's chapter on several servers, from its
 * text: from one database to three servers, a fourth, a large seller moved, a
 * server lost, and all restored to a restore point. Then every server has what
 * was acknowledged before that point and nothing after it, and the service
 * continues.
 */
import { assert, assertEquals } from "@std/assert";
import { Processes } from "../processes/processes.ts";
import { PostgresStore } from "../processes/store.ts";
import { Uploader } from "../processes/writers.ts";
import { until } from "../support/clock.ts";
import { makeFilled } from "../support/filled.ts";
import { blocks, chapter } from "../support/handbook.ts";
import { runProgram, temporaryFolder } from "../support/process.ts";
import { CitusCluster } from "../processes/citus_cluster.ts";

const ROWS = 50;
const SHARDS = 8;
/** The coordinator, and the servers with sellers. */
const NODES = [0, 1, 2, 3];
/** The chapter's large seller, and others. */
const SELLERS = ["acme", "s2", "s3", "s4", "s5", "s6"];

/** The only shell block of the chapter that contains `part`. */
function step(part: string): string {
  const found = blocks(chapter("scaling"))
    .filter(({ language, code }) => language === "sh" && code.includes(part));
  assertEquals(found.length, 1, `blocks with ${part}`);
  return found[0].code;
}

/** The servers `pg0`, `pg1`, … of the chapter. */
class Servers {
  constructor(
    readonly cluster: CitusCluster,
    /** Replaces `/backup`. */
    readonly backup: string,
  ) {}

  async port(node: number): Promise<string> {
    return new URL(await this.cluster.url(node, "seller")).port;
  }

  /**
   * Runs a step on a server as its superuser; `pg1` in it stands for that
   * server.
   */
  async on(node: number, text: string): Promise<void> {
    let script = text.replaceAll("/backup", this.backup)
      .replaceAll("pg1/", `pg${node}/`).replaceAll(
        "base-pg1",
        `base-pg${node}`,
      );
    for (const [all, name] of [...script.matchAll(/'pg(\d)', 5432/g)]) {
      const address = `'127.0.0.1', ${await this.port(Number(name))}`;
      script = script.replaceAll(all, address);
    }
    await this.command(script, {
      PGHOST: "127.0.0.1",
      PGPORT: await this.port(node),
      PGUSER: "postgres",
      PGDATA: `${this.cluster.folder}/${node}/data`,
    });
  }

  /** Runs a shell command as the user of the servers. */
  async command(
    script: string,
    env: Record<string, string> = {},
  ): Promise<void> {
    const args = Deno.uid() === 0
      ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
      : [];
    const all = `cd /; set -o pipefail; ` +
      `PATH=/usr/lib/postgresql/15/bin:$PATH; ` +
      // A failing statement ends the step.
      `psql() { command psql -X -v ON_ERROR_STOP=1 "$@"; }; ${script}`;
    const [first, ...rest] = [...args, "bash", "-euc", all];
    const { success, stdout, stderr } = await new Deno.Command(first, {
      args: rest,
      env,
    }).output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    assert(success, `${script}\n${text(stdout)}${text(stderr)}`);
  }
}

async function start(
  url: string,
  sellers: readonly string[] = [],
): Promise<Processes> {
  const store = await PostgresStore.open(url);
  return await Processes.start(store, { roles: ["api"], sellers });
}

if (CitusCluster.given() !== null) {
  Deno.test("the chapter's commands: three servers, a fourth, a large seller, a loss (spread)", async () => {
    await using cluster = (await CitusCluster.start())!;
    await using folder = await temporaryFolder();
    const backup = `${cluster.folder}/backup`;
    await Deno.mkdir(backup);
    await Deno.chmod(backup, 0o777);
    const servers = new Servers(cluster, backup);
    // The chapter creates the databases itself.
    await Deno.writeTextFile(`${cluster.folder}/databases`, "");
    for (const node of [0, 1, 2]) {
      await cluster.sql(node, "DROP DATABASE seller WITH (FORCE)", "postgres");
    }

    const createdb = step("CREATE EXTENSION citus");
    for (const node of [0, 1, 2]) await servers.on(node, createdb);
    await servers.on(0, step("citus_set_coordinator_host"));
    const url = await cluster.url(0, "seller");
    const env = { SELLER_DATABASE_URL: url, SELLER_SHARDS: `${SHARDS}` };
    await makeFilled(`${folder.path}/seller.db`, ROWS);
    const commands = step("seller-admin database info")
      .replace("/var/lib/seller-interface", folder.path);
    for (const line of commands.trim().split("\n")) {
      const [program, ...args] = line.split(" ");
      assertEquals(program, "seller-admin");
      const { code, stdout, stderr } = await runProgram(args, { env });
      assertEquals(code, 0, stderr);
      if (args[0] === "database") {
        assert(stdout.startsWith(`engine: citus  shards: ${SHARDS}\n`), stdout);
      }
    }

    const onEach = async (text: string) => {
      for (const node of NODES) await servers.on(node, text);
    };
    /** Waits until everything written so far is in the archives. */
    const archived = async () => {
      await onEach(step("pg_switch_wal"));
      for (const node of NODES) {
        await until(async () => {
          const waiting = await cluster.sql(
            node,
            "SELECT count(*) FROM pg_ls_archive_statusdir() " +
              "WHERE name LIKE '%.ready'",
            "postgres",
          );
          return waiting === "0";
        });
      }
    };

    const uploaders = SELLERS.map((name) => new Uploader(name, null));
    let keys: ReadonlyMap<string, string>;
    {
      await using processes = await start(url, SELLERS);
      ({ keys } = processes);
      let hasEnded = false;
      /** Each seller uploads again and again. */
      const uploading = async () => {
        while (!hasEnded) {
          for (const one of uploaders) {
            const url = processes.nextUrl()!;
            await one.writeOnce(url, keys.get(one.name)!, 503);
          }
        }
      };
      const during = async (doing: () => Promise<void>) => {
        hasEnded = false;
        await Promise.all([
          uploading(),
          doing().finally(() => hasEnded = true),
        ]);
      };
      const upload = async () => {
        for (const one of uploaders) {
          assert(
            await one.writeOnce(processes.nextUrl()!, keys.get(one.name)!),
          );
        }
      };
      /** The port of the large seller's server. */
      const place = () =>
        cluster.sql(
          0,
          `SELECT nodeport FROM citus_shards, sellers
           WHERE table_name = 'seller_counters'::regclass AND name = 'acme'
             AND shardid = get_shard_id_for_distribution_column(
               'seller_counters', seller_no)`,
          "seller",
        );
      await during(async () => {
        await cluster.run("add");
        await servers.on(3, createdb);
        await servers.on(0, step("citus_rebalance_start"));
        await cluster.sql(0, "SELECT citus_rebalance_wait()", "seller");
        const to = await place() === await servers.port(3) ? 1 : 3;
        await servers.on(
          0,
          step("isolate_tenant_to_new_shard").replace("'pg3'", `'pg${to}'`),
        );
        assertEquals(await place(), await servers.port(to));
      });
      for (const node of NODES) {
        await servers.command(`mkdir -p ${backup}/pg${node}`);
      }
      await onEach(step("archive_mode"));
      for (const node of NODES) {
        await cluster.run("kill", `${node}`);
        await cluster.run("up", `${node}`);
      }
      for (const one of uploaders) {
        while (
          !await one.writeOnce(processes.nextUrl()!, keys.get(one.name)!, 503)
        ) {
          assertEquals(processes.suicides, []);
        }
      }
      await onEach(step("pg_basebackup"));
      await upload();
      await servers.on(0, step("citus_create_restore_point"));
      await archived();
    }
    const acknowledged = new Map(
      uploaders.map((one) => [one.name, one.acknowledged]),
    );
    {
      await using processes = await start(url);
      for (const one of uploaders) {
        assert(await one.writeOnce(processes.nextUrl()!, keys.get(one.name)!));
      }
      await archived();
    }
    for (const node of NODES) {
      await cluster.run("kill", `${node}`);
      // One server is lost with all its data.
      if (node === 1) {
        await servers.command(`rm -r ${cluster.folder}/${node}/data`);
      }
      await servers.on(node, step("recovery.signal"));
    }
    for (const node of NODES) await cluster.run("up", `${node}`);
    await using processes = await start(url);
    for (const one of uploaders) {
      const { name } = one;
      const response = await fetch(
        `${processes.nextUrl()}/seller_api/products/${name}-0`,
        { headers: { "x-service-auth": keys.get(name)! } },
      );
      const text = await response.text();
      assertEquals(response.status, 200, text);
      const version = `<title>v${acknowledged.get(name)}</title>`;
      assert(text.includes(version), `${version}: ${text}`);
      assert(await one.writeOnce(processes.nextUrl()!, keys.get(name)!));
    }
  });
}
