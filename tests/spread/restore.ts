/**
 * All servers of a cluster go back to one restore point, as the handbook tells
 * it: what was acknowledged before is there, on every server; what came after is
 * not; and the service goes on.
 */
import { assert, assertEquals } from "@std/assert";
import { Cluster as Processes } from "../crash/cluster.ts";
import { Uploader } from "../crash/writers.ts";
import { Cluster } from "./cluster.ts";

const SELLERS = ["s1", "s2", "s3", "s4", "s5", "s6"];
const NODES = [0, 1, 2];
const POINT = "evening";

if (Cluster.given() !== null) {
  Deno.test("all servers go back to a restore point (spread)", async () => {
    // Its data are replaced.
    await using cluster = (await Cluster.start())!;
    const { folder } = cluster;
    const bin = "/usr/lib/postgresql/15/bin";
    const asServer = (script: string) => command(`cd /; ${script}`);
    const archive = `${folder}/archive`;
    await Deno.mkdir(archive);
    await Deno.chmod(archive, 0o777);
    await asServer(`mkdir -p ${NODES.map((n) => `${archive}/${n}`).join(" ")}`);
    for (const node of NODES) {
      await cluster.sql(node, "ALTER SYSTEM SET archive_mode = on");
      await cluster.sql(
        node,
        `ALTER SYSTEM SET archive_command = 'cp %p ${archive}/${node}/%f'`,
      );
      await cluster.run("kill", `${node}`);
      await cluster.run("up", `${node}`);
    }
    const url = await cluster.database("restored");
    const start = () => Processes.start(url, ["api"], SELLERS, 8);
    const uploaders = SELLERS.map((name) => new Uploader(name, null));
    let keys: ReadonlyMap<string, string>;
    {
      await using processes = await start();
      ({ keys } = processes);
      const upload = async () => {
        for (const one of uploaders) {
          assert(
            await one.writeOnce(processes.nextUrl()!, keys.get(one.name)!),
          );
        }
      };
      await upload();
      for (const node of NODES) {
        const port = new URL(await cluster.url(node, "postgres")).port;
        await asServer(
          `${bin}/pg_basebackup -h 127.0.0.1 -p ${port} -U postgres ` +
            `-D ${archive}/base${node} -c fast`,
        );
      }
      await upload();
      await cluster.sql(
        0,
        `SELECT citus_create_restore_point('${POINT}')`,
        "restored",
      );
      await upload();
      for (const node of NODES) {
        await cluster.sql(node, "SELECT pg_switch_wal()");
      }
    }
    for (const node of NODES) {
      await cluster.run("kill", `${node}`);
      const data = `${folder}/${node}/data`;
      await asServer(
        `rm -r ${data} && cp -a ${archive}/base${node} ${data} && ` +
          `touch ${data}/recovery.signal && cat >>${data}/postgresql.auto.conf <<END
restore_command = 'cp ${archive}/${node}/%f %p'
recovery_target_name = '${POINT}'
recovery_target_action = 'promote'
END`,
      );
    }
    for (const node of NODES) await cluster.run("up", `${node}`);
    await using processes = await Processes.start(url, ["api"], [], 8);
    for (const { name } of uploaders) {
      const response = await fetch(
        `${processes.nextUrl()}/seller_api/products/${name}-0`,
        { headers: { "x-service-auth": keys.get(name)! } },
      );
      const text = await response.text();
      assertEquals(response.status, 200, text);
      assert(text.includes("<title>v2</title>"), text);
    }
    for (const one of uploaders) {
      assert(await one.writeOnce(processes.nextUrl()!, keys.get(one.name)!));
    }
  });
}

/** Runs a shell command as the user of the servers. */
async function command(script: string): Promise<void> {
  const args = Deno.uid() === 0
    ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    : [];
  const [first, ...rest] = [...args, "bash", "-ec", script];
  const { success, stderr } = await new Deno.Command(first, { args: rest })
    .output();
  assert(success, new TextDecoder().decode(stderr));
}
