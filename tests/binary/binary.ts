/**
 * The compiled program, run as an operator runs it: with an empty environment,
 * in an empty folder. Not part of `deno task check`, because it fetches two
 * packages of 100 MB: `deno task binary`.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { IMAGE_TYPES } from "../../src/images/image_types.ts";
import { ImageHost } from "../support/image_host.ts";
import { MailServer } from "../support/mail_server.ts";
import { until } from "../support/clock.ts";
import {
  compileArguments,
  type RunOptions,
  runProgram,
  startProgram,
  temporaryFolder,
} from "../support/process.ts";
import { fetchRuntime, RUNTIME_RELEASE } from "./runtime.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** Flags of `deno task compile` that the runtime's release does not have. */
const UNKNOWN = ["--exclude-unused-npm"];
/** Flags that this release needs in addition. */
const BESIDES = ["--no-check", "--unstable-raw-imports"];

async function compile(folder: string): Promise<string> {
  const output = `${folder}/seller-interface`;
  const flags = (await compileArguments(output))
    .filter((flag) => !UNKNOWN.includes(flag));
  const { success, stderr } = await new Deno.Command("npx", {
    args: ["--yes", `deno@${RUNTIME_RELEASE}`, "compile", ...BESIDES, ...flags],
    cwd: ROOT,
    env: { DENORT_BIN: await fetchRuntime(folder) },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  return output;
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let executable: string;

Deno.test.beforeAll(async () => {
  folder = await temporaryFolder();
  executable = await compile(folder.path);
});
Deno.test.afterAll(async () => await folder[Symbol.asyncDispose]());

Deno.test("the binary accepts an upload with images, serves the page, backs up and stops", async () => {
  await using host = new ImageHost();
  const data = `${folder.path}/data`;
  const env = {
    SELLER_DATA_DIR: data,
    SELLER_PORT: "0",
    SELLER_ALLOW_PRIVATE: "127.0.0.0/8",
  };
  const options: RunOptions = { executable, env };
  const misspelt = await runProgram(["seller", "add", "acme"], {
    executable,
    env: { ...env, SELLER_PROT: "8081" },
  });
  assertEquals(misspelt.code, 2);
  assertStringIncludes(misspelt.stderr, "did you mean SELLER_PORT?");
  const added = await runProgram(["seller", "add", "acme"], options);
  assertEquals(added.code, 0, added.stderr);
  const key = /^api_key: (.+)$/m.exec(added.stdout)![1];
  await using program = await startProgram(["serve"], options);
  const call = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(program.url + path, {
      ...init,
      headers: { "X-Service-Auth": key, "Content-Type": "text/xml" },
    });
    return { status: response.status, text: await response.text() };
  };

  const uploaded = await call("/seller_api/bulk_products?v=1.1", {
    method: "POST",
    body: "<products><product><sku>A</sku><title>A mug</title>" +
      '<price currency="SEK">1.00</price><quantity>1</quantity><images>' +
      IMAGE_TYPES.map((type) => `<image>${host.url}/good/a.${type}</image>`)
        .join("") +
      "</images></product></products>",
  });
  assertEquals(uploaded.status, 200, uploaded.text);
  const id = /<transaction_id>(.+?)</.exec(uploaded.text)![1];
  const status = await call(`/seller_api/bulk_products/${id}?wait=30`);
  assertStringIncludes(status.text, "<status>completed</status>");
  assertStringIncludes(status.text, `<stored>${IMAGE_TYPES.length}</stored>`);
  const product = await call("/seller_api/products/A");
  const image = /href="([^"]+)"/.exec(product.text)![1];

  for (
    const path of ["/", "/docs", "/docs/upload", "/openapi.json", "/readyz"]
  ) {
    assertEquals((await call(path)).status, 200, path);
  }
  const stored = await fetch(new URL(image, program.url));
  assertEquals(stored.status, 200);
  await stored.body?.cancel();

  const backup = `${folder.path}/backup.db`;
  const saved = await runProgram(["backup", backup], options);
  assertEquals(saved.code, 0, saved.stderr);
  assert((await Deno.stat(backup)).size > 0);

  const { code } = await program.stop();
  assertEquals(code, 0);
});

Deno.test("the binary sends mail over STARTTLS", async () => {
  await using mail = await MailServer.start({ password: "hush" });
  const env = {
    SELLER_DATA_DIR: `${folder.path}/mailing`,
    SELLER_PORT: "0",
    SELLER_SMTP_URL: `smtp://mailer:hush@127.0.0.1:${mail.port}`,
    SELLER_MAIL_FROM: "notices@shop.example",
  };
  const options: RunOptions = { executable, env };
  const added = await runProgram(["seller", "add", "acme"], options);
  const key = /^api_key: (.+)$/m.exec(added.stdout)![1];
  for (const words of [["email", "a@acme.example"], ["product_limit", "1"]]) {
    await runProgram(["seller", "set", "acme", ...words], options);
  }
  await using program = await startProgram(["serve"], options);
  const uploaded = await fetch(
    `${program.url}/seller_api/bulk_products?v=1.1`,
    {
      method: "POST",
      headers: { "X-Service-Auth": key, "Content-Type": "text/xml" },
      body: "<products><product><sku>A</sku><title>A mug</title>" +
        '<price currency="SEK">1.00</price><quantity>1</quantity>' +
        "</product></products>",
    },
  );
  assertEquals(uploaded.status, 200, await uploaded.text());
  await until(() => mail.received.length > 0, "the mail");
  const [{ secure, user, text }] = mail.received;
  assertEquals([secure, user], [true, "mailer"]);
  assertStringIncludes(text, "Your quota is used up");
  assertEquals((await program.stop()).code, 0);
});

/** The user of the handbook's container image. */
const NOBODY = 65_532;

/**
 * Runs the program as that user, with the first argument as its root folder.
 */
const INSIDE = `
  root=$1
  shift
  /bin/mount --rbind /proc "$root/proc" &&
    exec /usr/sbin/chroot --userspec=${NOBODY}:${NOBODY} "$root" \\
      /seller-interface "$@"
`;

/** Files that the dynamic linker loads for a program. */
async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await new Deno.Command("ldd", { args: [program] })
    .output();
  return [...new TextDecoder().decode(stdout).matchAll(/\/\S+/g)]
    .map(([path]) => path);
}

/** The folder that the handbook's container file creates, without a shell. */
async function makeRoot(root: string): Promise<void> {
  const copy = async (from: string, to: string) => {
    const target = root + to;
    await Deno.mkdir(target.slice(0, target.lastIndexOf("/")), {
      recursive: true,
    });
    await Deno.copyFile(from, target);
    await Deno.chmod(target, 0o755);
  };
  await copy(executable, "/seller-interface");
  for (const path of await librariesOf(executable)) await copy(path, path);
  // Every container has it; the program finds itself there.
  await Deno.mkdir(`${root}/proc`);
  for (const name of ["/data", "/tmp"]) {
    await Deno.mkdir(root + name);
    await Deno.chown(root + name, NOBODY, NOBODY);
  }
  await Deno.chmod(root, 0o755);
}

Deno.test({
  name: "the binary runs in a root with only itself, the C library and /data",
  ignore: Deno.uid() !== 0, // only root may change the root
  async fn() {
    await using room = await temporaryFolder();
    const root = `${room.path}/root`;
    await Deno.mkdir(root);
    await makeRoot(root);
    const inside = ["--mount", "/bin/sh", "-c", INSIDE, "sh", root];
    const env = {
      SELLER_DATA_DIR: "/data",
      SELLER_PORT: "0",
      SELLER_METRICS_PORT: "0",
    };
    const options: RunOptions = { executable: "/usr/bin/unshare", env };
    const added = await runProgram(
      [...inside, "seller", "add", "acme"],
      options,
    );
    assertEquals(added.code, 0, added.stderr);
    const key = /^api_key: (.+)$/m.exec(added.stdout)![1];
    await using program = await startProgram([...inside, "serve"], options);
    const health = await runProgram([...inside, "health", "--ready"], {
      ...options,
      env: { ...env, SELLER_PORT: new URL(program.url).port },
    });
    assertEquals([health.code, health.stdout], [0, "ready\n"], health.stderr);
    const uploaded = await fetch(
      `${program.url}/seller_api/bulk_products?v=1.1`,
      {
        method: "POST",
        headers: { "X-Service-Auth": key, "Content-Type": "text/xml" },
        body: "<products><product><sku>A</sku><title>A mug</title>" +
          '<price currency="SEK">1.00</price><quantity>1</quantity></product></products>',
      },
    );
    assertEquals(uploaded.status, 200, await uploaded.text());
    const { uid } = await Deno.stat(`${root}/data/seller.db`);
    assertEquals(uid, NOBODY);
    assertEquals((await program.stop()).code, 0);
  },
});
