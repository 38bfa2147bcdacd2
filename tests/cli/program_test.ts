import {
  assert,
  assertEquals,
  assertLess,
  assertMatch,
  assertNotEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { mistakesOf } from "../../src/cli/main.ts";
import { sqliteVersion } from "../../src/database/sqlite/version.ts";
import { systemDeps } from "../../src/deps.ts";
import { VERSION } from "../../src/version.ts";
import { product } from "../support/app.ts";
import { runCommand } from "../support/command.ts";
import { testConfig } from "../support/config.ts";
import { Host } from "../support/host.ts";
import {
  type Program,
  runProgram,
  startCommand,
  startProgram,
  temporaryFolder,
} from "../support/process.ts";

const BULK = "/seller_api/bulk_products?v=1.1";

function value(name: string, printed: string): string {
  const found = new RegExp(`^${name}: (\\S+)$`, "m").exec(printed);
  assert(found, `no line "${name}: …" in:\n${printed}`);
  return found[1];
}

async function addSeller(name: string, data: string): Promise<string> {
  const { code, stdout, stderr } = await runProgram([
    "seller",
    "add",
    name,
    data,
  ]);
  assertEquals(code, 0, stderr);
  return stdout;
}

async function statusFor({ url }: Program, key: string): Promise<number> {
  const response = await fetch(`${url}/seller_api/webhooks`, {
    headers: { "X-Service-Auth": key },
  });
  await response.body?.cancel();
  return response.status;
}

Deno.test("without --data a command says where the database is", async () => {
  await using folder = await temporaryFolder();
  const data = `--data=${folder.path}`;
  const SELLER_DATABASE_URL = "postgres://seller@127.0.0.1:1/seller";
  for (const words of [["seller", "add", "acme"], ["seller", "list"]]) {
    const elsewhere = await runProgram([...words, data], {
      env: { SELLER_DATABASE_URL },
    });
    assertEquals(elsewhere.code, 1);
    assertMatch(elsewhere.stderr, /^the database is that of SELLER_DATABASE_/);
  }
  assertEquals(
    (await runProgram(["seller", "add", "acme", data])).stderr.match(/URL/),
    null,
  );
});

Deno.test("keys are created, listed and revoked while the service runs", async () => {
  await using folder = await temporaryFolder();
  const data = `--data=${folder.path}`;
  const added = await addSeller("Åsa & Søn", data);
  assertMatch(value("api_key", added), /^sk_[\w-]{43}$/);
  assertMatch(value("webhook_secret", added), /^whsec_[\w+/]{43}=$/);
  await using program = await startProgram(["serve", "--port=0", data]);

  const second = (await runProgram(["key", "add", "Åsa & Søn", data])).stdout;
  assertNotEquals(value("api_key", second), value("api_key", added));
  assertEquals(await statusFor(program, value("api_key", added)), 200);
  assertEquals(await statusFor(program, value("api_key", second)), 200);

  const keyId = value("key_id", added);
  assertEquals((await runProgram(["key", "revoke", keyId, data])).code, 0);
  const until = performance.now() + 1_000;
  while (await statusFor(program, value("api_key", added)) !== 401) {
    assertLess(performance.now(), until, "a revoked key goes on working");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assertEquals(await statusFor(program, value("api_key", second)), 200);

  const { stdout } = await runProgram(["key", "list", "Åsa & Søn", data]);
  const [first, other] = stdout.trimEnd().split("\n");
  assertMatch(first, new RegExp(`^${keyId} .* revoked `));
  assertMatch(other, / active {2}read,products,webhooks,keys {2}everywhere$/);
});

Deno.test("the service stores no key in plain text", async () => {
  await using folder = await temporaryFolder();
  const data = `--data=${folder.path}`;
  const key = value("api_key", await addSeller("acme", data));
  for await (const file of Deno.readDir(folder.path)) {
    const bytes = await Deno.readFile(`${folder.path}/${file.name}`);
    assert(!new TextDecoder("latin1").decode(bytes).includes(key), file.name);
  }
});

Deno.test("a backup taken while the service runs can be served", async () => {
  await using folder = await temporaryFolder();
  const data = `--data=${folder.path}/live`;
  const key = value("api_key", await addSeller("acme", data));
  const copy = `${folder.path}/copy/seller.db`;
  await Deno.mkdir(`${folder.path}/copy`);
  {
    await using program = await startProgram(["serve", "--port=0", data]);
    const posted = await fetch(program.url + BULK, {
      method: "POST",
      headers: { "X-Service-Auth": key, "Content-Type": "text/xml" },
      body: "<products><product><sku>A-1</sku><title>Mug</title>" +
        '<price currency="SEK">1</price><quantity>1</quantity></product></products>',
    });
    assertEquals(posted.status, 200, await posted.text());
    const { code, stderr } = await runProgram(["backup", copy, data]);
    assertEquals(code, 0, stderr);
  }
  assertEquals((await Deno.stat(copy)).mode! & 0o777, 0o600);
  const again = await runProgram(["backup", copy, data]);
  assertEquals(again.code, 2);
  assertStringIncludes(again.stderr, `${copy} already exists`);

  await using restored = await startProgram([
    "serve",
    "--port=0",
    `--data=${folder.path}/copy`,
  ]);
  const changed = await fetch(
    `${restored.url}/seller_api/products/A-1/attribute/quantity/2`,
    { method: "PUT", headers: { "X-Service-Auth": key } },
  );
  assertEquals(changed.status, 204);
});

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.test(`${signal} ends the service with exit code 0`, async () => {
    await using folder = await temporaryFolder();
    const data = `--data=${folder.path}`;
    const key = value("api_key", await addSeller("acme", data));
    await using program = await startProgram(["serve", "--port=0", data]);
    // A kept-alive connection, which must not delay the end of the service.
    assertEquals(await statusFor(program, key), 200);
    const begun = performance.now();
    const { code, stdout } = await program.stop(signal);
    assertEquals(code, 0);
    assertLess(performance.now() - begun, 10_000);
    assertEquals(
      stdout,
      `listening on ${program.url}\nready: api, images, webhooks`,
    );
  });
}

Deno.test("a body that is still arriving when the service stops is 503 with Retry-After", async () => {
  await using folder = await temporaryFolder();
  const data = `--data=${folder.path}`;
  const key = value("api_key", await addSeller("acme", data));
  await using program = await startProgram([
    "serve",
    "--port=0",
    "--log=debug",
    data,
  ], { env: { SELLER_METRICS_KEY: "hush-hush" } });
  const { hostname, port } = new URL(program.url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  await connection.write(new TextEncoder().encode(
    "POST /seller_api/bulk_products HTTP/1.1\r\nHost: x\r\n" +
      `X-Service-Auth: ${key}\r\nContent-Type: text/xml\r\n` +
      "Content-Length: 1000\r\n\r\n<products>",
  ));
  // The answer to another request shows that the first one was received.
  assertEquals(await statusFor(program, key), 200);
  const begun = performance.now();
  const { code, stderr } = await program.stop();
  assertEquals(code, 0, stderr);
  assertLess(performance.now() - begun, 10_000);
  assertEquals(stderr.includes("malformed_request"), false, stderr);

  const lines = stderr.trimEnd().split("\n").map((line) => JSON.parse(line));
  const started = lines.find(({ event }) => event === "started");
  assertEquals([started.version, started.engine], [VERSION, "sqlite"]);
  assertEquals(started.sqlite, sqliteVersion());
  assertEquals(started.roles, ["api", "images", "webhooks"]);
  assertEquals(started.settings.SELLER_METRICS_KEY, "set");
  assertEquals(started.settings.SELLER_OPERATOR_KEY, null);
  assertEquals(started.settings.SELLER_BODY_LIMIT, 16_777_216);
  assertEquals(stderr.includes("hush-hush"), false);
  assertEquals(
    lines.map(({ event }) => event).filter((event) => /^stop/.test(event)),
    ["stopping", "stopped"],
  );
});

Deno.test("every mistake is reported at once, with exit code 2, and nothing starts", async () => {
  await using folder = await temporaryFolder();
  const env = {
    SELLER_PORT: "http",
    SELLER_ROLES: "cook",
    SELLER_LOGS: "debug",
    SELLER_DATA_DIR: `${folder.path}/data`,
  };
  const { code, stdout, stderr } = await runProgram(
    ["serve", "--prot", "80", "--host="],
    { env },
  );
  assertEquals(code, 2);
  assertEquals(stdout, "");
  for (
    const name of [
      "SELLER_PORT",
      "SELLER_ROLES",
      "SELLER_LOGS",
      "--prot",
      "--host",
    ]
  ) {
    assertMatch(stderr, new RegExp(`^error: ${name}:`, "m"));
  }
  assertStringIncludes(stderr, "serve --help` shows what is accepted.");
  assertEquals([...Deno.readDirSync(folder.path)].length, 0);
});

const REFUSED: readonly (readonly [string[], string])[] = [
  [["seller", "add", ""], "is not a valid name for a seller"],
  [["seller", "add", " acme"], "is not a valid name for a seller"],
  [["seller", "add", "a\nb"], "is not a valid name for a seller"],
  [["seller", "add", "a\u200bb"], "is not a valid name for a seller"],
  [["seller", "add", "x".repeat(65)], "is not a valid name for a seller"],
  [["seller", "add", ".."], "is not a valid name for a seller"],
  [
    ["operator-key", "add", "environment\u200b"],
    "is not a valid name for a key",
  ],
  [["operator-key", "add", "command  line"], "is not a valid name for a key"],
  [["seller", "add", "acme"], 'There is a seller "acme" already.'],
  [["key", "add", "nobody"], 'There is no seller "nobody"'],
  [["key", "list", "nobody"], 'There is no seller "nobody"'],
  [["key", "revoke", "no-id"], 'There is no key "no-id"'],
];

Deno.test("an unknown or impossible name of a seller is refused with exit code 2", async () => {
  await using folder = await temporaryFolder();
  const data = `--data=${folder.path}`;
  await addSeller("acme", data);
  const [[args, message]] = REFUSED;
  const { code, stdout, stderr } = await runProgram([...args, data]);
  assertEquals(code, 2);
  assertEquals(stdout, "");
  assertStringIncludes(stderr, message);
  assertEquals(stderr.trimEnd().split("\n").length, 1, "that says it all");
  // A separate process for each would take as long as all other tests of this
  // file.
  const place = {
    config: testConfig({ dataDir: folder.path }),
    deps: systemDeps("error"),
  };
  for (const [args, message] of REFUSED) {
    const error = await assertRejects(() => runCommand(place, ...args));
    const mistakes = mistakesOf(error)!;
    assertEquals(mistakes.length, 1, args.join(" "));
    assertStringIncludes(mistakes[0], message);
  }
});

Deno.test("only serve and seller add create a database, and say so", async () => {
  await using folder = await temporaryFolder();
  const none = `${folder.path}/none`;
  const data = `--data=${none}`;
  for (
    const args of [
      ["seller", "list"],
      ["key", "add", "acme"],
      ["delivery", "list"],
      ["images", "prune"],
      ["backup", `${folder.path}/b`],
    ]
  ) {
    const { code, stderr } = await runProgram([...args, data]);
    assertEquals(code, 1, args.join(" "));
    assertStringIncludes(stderr, none);
  }
  assertEquals([...Deno.readDirSync(folder.path)].length, 0);
  const first = await runProgram(["seller", "add", "acme", data]);
  assertEquals([first.code, first.stderr], [0, `new database: ${none}\n`]);
  const second = await runProgram(["seller", "add", "other", data]);
  assertEquals([second.code, second.stderr], [0, ""]);
});

const isLogLine = (line: string) => line.startsWith("{");

Deno.test("a taken port gives one clear line and exit code 1", async () => {
  await using folder = await temporaryFolder();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { code, stdout, stderr } = await runProgram([
    "serve",
    `--port=${listener.addr.port}`,
    `--data=${folder.path}`,
  ]);
  assertEquals(code, 1);
  assertEquals(stdout, "");
  const lines = stderr.trimEnd().split("\n");
  const [error, ...more] = lines.filter((line) => !isLogLine(line));
  assertMatch(error, /^error: port \d+ of 127\.0\.0\.1 is taken;/);
  assertEquals(more, []);
});

Deno.test("a host that does not resolve is named, with exit code 1", async () => {
  await using folder = await temporaryFolder();
  const { code, stderr } = await runProgram([
    "serve",
    "--host=no-such-host.invalid",
    `--data=${folder.path}`,
  ]);
  assertEquals(code, 1);
  assertMatch(stderr, /^error: cannot listen on no-such-host\.invalid \(/m);
});

Deno.test("a file that is no database gives one clear line and exit code 1", async () => {
  await using folder = await temporaryFolder();
  await Deno.writeTextFile(
    `${folder.path}/seller.db`,
    "no database\n".repeat(99),
  );
  const { code, stderr } = await runProgram([
    "serve",
    "--port=0",
    `--data=${folder.path}`,
  ]);
  assertEquals(code, 1);
  assertMatch(
    stderr,
    /^error: the database in [^\n]* cannot be used [^\n]*\n$/,
  );
});

Deno.test("a folder that cannot store images gives one clear line and exit code 1", async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/file`;
  await Deno.writeTextFile(file, "");
  const { code, stderr } = await runProgram(["serve"], {
    env: {
      SELLER_DATA_DIR: `${folder.path}/data`,
      SELLER_PORT: "0",
      SELLER_IMAGE_STORE: file,
    },
  });
  assertEquals(code, 1, stderr);
  assertMatch(
    stderr,
    /^error: images cannot be kept in \S+ \([^\n]*\); SELLER_IMAGE_STORE [^\n]*\n$/,
  );
});

Deno.test("--version and --help answer without reading settings", async () => {
  const env = { SELLER_PORT: "wrong" };
  const version = await runProgram(["seller", "add", "--version"], { env });
  assertMatch(
    version.stdout,
    /^seller-interface \d+\.\d+\.\d+ \(no release, Deno 2\.\d+\.\d+, SQLite 3\.\d+\.\d+\)\n$/,
  );
  const help = await runProgram(["key", "revoke", "--help"], { env });
  assertStringIncludes(help.stdout, "key revoke KEY_ID");
  assertEquals([version.code, help.code], [0, 0]);
});

Deno.test("a command ends without a message when its reader disconnects", async () => {
  await using folder = await temporaryFolder();
  const data = `--data=${folder.path}`;
  await addSeller("acme", data);
  const preload = new URL("wait_for_reader_to_go.ts", import.meta.url).href;
  for (const words of [["--help"], ["seller", "list", data]]) {
    const child = await startCommand(words, { preload });
    await child.stdout.cancel();
    const errors = await new Response(child.stderr).text();
    assertEquals([(await child.status).code, errors], [141, ""]);
  }
});

Deno.test("an upload whose image hosts hang is answered before the service stops", async () => {
  const asked = Promise.withResolvers<void>();
  const never = Promise.withResolvers<Response>();
  await using host = new Host(() => {
    asked.resolve();
    return never.promise;
  });
  await using folder = await temporaryFolder();
  const data = `--data=${folder.path}`;
  const key = value("api_key", await addSeller("acme", data));
  await using program = await startProgram([data, "--port=0"], {
    env: { SELLER_ALLOW_PRIVATE: "127.0.0.0/8" },
  });
  const answer = fetch(program.url + BULK, {
    method: "POST",
    headers: { "X-Service-Auth": key, "Content-Type": "text/xml" },
    body: `<products>${
      product("A", `<images><image>${host.url}/a.png</image></images>`)
    }</products>`,
  });
  await asked.promise;
  const stopped = program.stop();
  const { status, headers } = await answer;
  assertEquals([status, headers.get("retry-after")], [503, "5"]);
  assertEquals((await stopped).code, 0);
  never.resolve(new Response());
});
