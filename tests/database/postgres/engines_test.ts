/** Runs the tests of the API and of the repositories again, on PostgreSQL. */
import { assert } from "@std/assert";
import { POSTGRES } from "../../support/engine.ts";
import { PostgresServer } from "../../support/postgres.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

/** `tests/sqlite` holds what is about the file; the rest is for both. */
const TESTS = [
  "tests/api",
  "tests/webhooks/deliveries_test.ts",
  "tests/webhooks/events_test.ts",
  "tests/images/rows_test.ts",
  "tests/images/prune_test.ts",
  "tests/images/worker/s3_test.ts",
  "tests/images/worker/role_test.ts",
  "tests/webhooks/worker/leases_test.ts",
  "tests/webhooks/worker/limits_test.ts",
  "tests/webhooks/worker/role_test.ts",
];

Deno.test("the API and every repository do on PostgreSQL what they do on SQLite", async () => {
  await using server = await PostgresServer.start();
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", "--no-check", "--parallel", ...TESTS],
    cwd: ROOT,
    env: { [POSTGRES]: server.url("postgres"), NO_COLOR: "1" },
  }).output();
  const text = new TextDecoder().decode(stdout);
  const failures = text.slice(Math.max(0, text.indexOf(" ERRORS ")));
  assert(success, failures + new TextDecoder().decode(stderr));
});
