/**
 * Runs the tests of both engines on a database whose sellers are spread over
 * servers, and those of this folder: on the database that
 * `SELLER_TEST_CITUS_URL` names, otherwise on a cluster that it starts.
 */
import { CitusCluster } from "../processes/citus_cluster.ts";

/** What is run by default. */
const TESTS = [
  "tests/http",
  "tests/catalogue",
  "tests/webhooks",
  "tests/sellers",
  "tests/images",
  "tests/imports",
  "tests/notices",
  "tests/reviews",
  "tests/cli/every_command_test.ts",
  "tests/spread/one_task.ts",
  "tests/spread/nodes.ts",
  "tests/spread/waits.ts",
  "tests/spread/away.ts",
  "tests/spread/isolation.ts",
  "tests/spread/copy.ts",
  "tests/spread/operator.ts",
  // Adds a server, so it runs last.
  "tests/spread/moves.ts",
];

/** Databases that a test may use at once. */
const DATABASES = 3;

await using cluster = Deno.env.has("SELLER_TEST_CITUS_URL")
  ? null
  : await CitusCluster.start();
const urls = cluster === null
  ? Deno.env.get("SELLER_TEST_CITUS_URL")
  : await databasesOf(cluster);
if (urls === undefined) {
  console.log(
    "Not run: there is neither ../shared/citus nor SELLER_TEST_CITUS_URL, the " +
      "URL of a database with the extension citus that tests may empty.",
  );
} else {
  const tests = Deno.args.length > 0 ? Deno.args : TESTS;
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", "--no-check", "--filter", "(spread)", ...tests],
    env: {
      SELLER_TEST_CITUS_URL: urls,
      ...(cluster && { SELLER_TEST_CLUSTER: cluster.folder }),
    },
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  Deno.exitCode = code;
}

async function databasesOf(cluster: CitusCluster): Promise<string> {
  const urls: string[] = [];
  for (let n = 0; n < DATABASES; n++) {
    urls.push(await cluster.database(`spread${n}`));
  }
  return urls.join(" ");
}
