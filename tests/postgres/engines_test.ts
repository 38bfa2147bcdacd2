/** Runs the tests of the API and of the repositories again, on PostgreSQL. */
import { assert } from "@std/assert";
import { POSTGRES } from "../support/engine.ts";
import { PostgresServer } from "../support/postgres.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** `tests/sqlite` holds what is about the file; the rest is for both. */
const TESTS = [
  "tests/api",
  "tests/store/deliveries_test.ts",
  "tests/store/events_test.ts",
  "tests/store/images_test.ts",
  "tests/work/image_prune_test.ts",
  "tests/work/image_s3_test.ts",
  "tests/work/images_test.ts",
  "tests/work/webhook_leases_test.ts",
  "tests/work/webhook_limits_test.ts",
  "tests/work/webhooks_test.ts",
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
