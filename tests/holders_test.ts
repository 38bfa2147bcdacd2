/**
 * The register contains everything that holds resources while work is in
 * progress.
 */
import { assertEquals } from "@std/assert";
import { QUEUE_NAMES } from "../src/jobs/queues.ts";
import { boot, product } from "./support/app.ts";
import { until } from "./support/clock.ts";
import { reportedInSource } from "./support/source.ts";

/**
 * What the register has, by the file that makes it and its class. What is a
 * part of another one is told by that.
 */
const MADE: Record<string, readonly string[]> = {
  "open_services.ts Outbound": ["outbound"],
  "open_services.ts WorkerReceiver": ["image_receiver"],
  "roles.ts RoleKeeper": QUEUE_NAMES,
  "roles.ts ImageRole": ["images"],
  "roles.ts SaleRole": ["sales"],
  "database/postgres/engine.ts PostgresDb": ["database"],
  "database/postgres/engine.ts WriteQueues": ["database"],
  "database/postgres/write_queues.ts WaitList": ["database"],
  "database/sqlite/engine.ts SqliteDb": ["database"],
  "http/admission/read_limiter.ts ConcurrencyLimit": ["reads"],
  "http/admission/read_limiter.ts WaitList": ["reads"],
  "http/admission/concurrency_limit.ts WaitList": [
    "bodies",
    "body_bytes",
    "uploads",
    "uploaded_images",
    "waits",
  ],
  "http/admission/admission.ts RequestPacer": ["paced_requests"],
  "http/admission/admission.ts ConcurrencyLimit": [
    "bodies",
    "body_bytes",
    "waits",
  ],
  "database/postgres/engine.ts SpreadDb": ["database"],
  "http/server/request_handler.ts BodySender": ["answers"],
  // In another thread, which reports its jobs and how long they wait to the
  // role.
  "images/worker/worker.ts ImageWorker": ["images"],
  "images/worker/image_worker.ts Outbound": ["images"],
  "images/storage/disk_call.ts WaitList": ["image_store"],
  "images/storage/open.ts FolderStore": ["image_store", "images"],
  "images/storage/open.ts S3Client": ["image_store", "images"],
  "images/storage/open.ts S3Store": ["image_store", "images"],
  "lib/wait_list.ts WaitList": ["heavy"],
  "net/names.ts WaitList": ["outbound", "deliveries"],
  "net/outbound.ts WaitList": ["outbound", "deliveries"],
  "webhooks/worker/role.ts Outbound": ["deliveries"],
  "notices/worker/role.ts Outbound": ["notices"],
  // Created for one call and closed after it.
  "net/guard.ts Outbound": [],
  // Only for one command.
  "cli/object.ts S3Client": [],
  "object_storage/client.ts WaitList": ["image_store", "images"],
};
/** Maps and counts, which have no class. */
const OTHERS = ["keys", "requests"];

/** Reports classes that hold something, and what is created with `new`. */
const MAKERS: Deno.lint.Plugin = {
  name: "holders",
  rules: {
    holds: {
      create: (context) => ({
        MethodDefinition(node) {
          const { key, parent } = node;
          const name = parent.parent.id?.name;
          if (key.type !== "Identifier" || key.name !== "inUse") return;
          if (name !== undefined) context.report({ node, message: name });
        },
      }),
    },
    makes: {
      create: (context) => ({
        NewExpression(node) {
          const { callee } = node;
          if (callee.type !== "Identifier") return;
          context.report({ node, message: callee.name });
        },
      }),
    },
  },
};

Deno.test("every holder is registered, wherever it is created", async () => {
  const found = [...reportedInSource(MAKERS)];
  const classes = new Set(
    found.filter(({ id }) => id === "holders/holds")
      .map(({ message }) => message),
  );
  classes.delete("Holders");
  const made = found.filter(({ id, message }) =>
    id === "holders/makes" && classes.has(message)
  ).map(({ path, message }) => `${path} ${message}`);
  assertEquals([...new Set(made)].sort(), Object.keys(MADE).sort());
  await using app = await boot({
    config: {
      roles: ["api", "images", "webhooks"],
      noticesUrl: "http://127.0.0.1:9000/",
      noticesSecret: `whsec_${btoa("thirty-two bytes of no entropy..")}`,
    },
  });
  const names = new Set([...Object.values(MADE).flat(), ...OTHERS]);
  assertEquals(app.app.holders.names.sort(), [...names].sort());
});

Deno.test("after all work nothing is held", async () => {
  await using app = await boot({
    config: { roles: ["api", "images", "webhooks"] },
  });
  const { holders } = app.app;
  const answers = await Promise.all([
    app.upload(product("A")),
    app.upload(product("B"), "", { "Idempotency-Key": "b" }),
    app.call("/seller_api/products"),
    app.call("/seller_api/bulk_products"),
  ]);
  assertEquals(answers.map(({ status }) => status), [200, 200, 200, 200]);
  const isIdle = () => Object.keys(holders.inUse()).length === 0;
  await until(isIdle, "a service that holds nothing");
});
