/** How the page is served, and that it is what its sources say. */
import {
  assert,
  assertEquals,
  assertLess,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { openApp } from "../../src/app.ts";
import { systemDeps } from "../../src/deps.ts";
import { boot, type TestApp } from "../support/app.ts";
import { temporaryFolder } from "../support/process.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Addresses of what the page loads at first. */
function assetsOf(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)]
    .map(([, path]) => path);
}

function get(app: TestApp, path: string, headers: Record<string, string> = {}) {
  return app.call(path, { key: null, headers });
}

Deno.test("the page needs no key and allows nothing from elsewhere", async () => {
  await using app = await boot();
  const { status, headers, text } = await get(app, "/");
  assertEquals(status, 200);
  assertEquals(headers.get("content-type"), "text/html; charset=utf-8");
  const policy = headers.get("content-security-policy")!;
  assertStringIncludes(policy, "default-src 'none'; script-src 'self';");
  assert(!/unsafe|http|\*/.test(policy), policy);
  assert(!/<script(?![^>]*src=)|<style|style=|\son\w+=/.test(text), text);
  assertEquals(assetsOf(text).length, 3);
});

Deno.test("what the page loads is kept for ever, under a name of its content", async () => {
  await using app = await boot();
  for (const path of assetsOf((await get(app, "/")).text)) {
    assertMatch(path, /\.[0-9a-f]{16}\.(js|css|svg)$/);
    const { status, headers } = await get(app, path);
    assertEquals(status, 200, path);
    assertStringIncludes(headers.get("cache-control")!, "immutable");
    assertEquals(headers.get("x-content-type-options"), "nosniff");
  }
  assertEquals((await get(app, "/assets/page.js")).status, 404);
});

Deno.test("a page that is known already is not sent again", async () => {
  await using app = await boot();
  const first = await get(app, "/");
  assertEquals(first.headers.get("cache-control"), "no-cache");
  const etag = first.headers.get("etag")!;
  const again = await get(app, "/", { "If-None-Match": etag });
  assertEquals([again.status, again.text], [304, ""]);
});

Deno.test("the first view has less than 110 KB, compressed", async () => {
  await using app = await boot();
  const paths = ["/", ...assetsOf((await get(app, "/")).text)];
  let size = 0;
  for (const path of paths) {
    const url = new URL(app.url);
    using connection = await Deno.connect({
      hostname: url.hostname,
      port: Number(url.port),
    });
    await connection.write(
      new TextEncoder().encode(
        `GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\n` +
          "Accept-Encoding: gzip\r\nConnection: close\r\n\r\n",
      ),
    );
    const answer = await new Response(connection.readable).bytes();
    assertStringIncludes(
      new TextDecoder().decode(answer).toLowerCase(),
      "content-encoding: gzip",
    );
    size += answer.length;
  }
  assertLess(size, 110_000);
});

Deno.test("only a sandbox tells its page a key", async () => {
  await using app = await boot();
  assert(!(await get(app, "/")).text.includes("sandbox"));
  await using folder = await temporaryFolder();
  const sandbox = await openApp(
    { ...app.config, dataDir: folder.path },
    systemDeps("error"),
    {
      sandbox: {
        sellerKey: 'demo"><script>',
        operatorKey: "operator",
        samples: [],
        mailUrl: "http://127.0.0.1:8081/mail",
      },
    },
  );
  try {
    const html = await (await fetch(sandbox.url!)).text();
    const [, content] = /<meta name="sandbox" content="([^"]*)">/.exec(html)!;
    assertStringIncludes(content, "demo\\&quot;&gt;&lt;script&gt;");
  } finally {
    await sandbox.close();
  }
});

Deno.test("the scripts are what their sources build to", async () => {
  await using folder = await temporaryFolder();
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const commands: string[] = tasks.web.command.split(" && ");
  assertEquals(commands.length, 2);
  for (const command of commands) {
    const words = command.split(" ");
    const at = words.indexOf("--output") + 1;
    const name = words[at];
    words[at] = `${folder.path}/script.js`;
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: words.slice(1),
      cwd: ROOT,
    }).output();
    assert(success, new TextDecoder().decode(stderr));
    const built = await Deno.readTextFile(words[at]);
    const kept = await Deno.readTextFile(ROOT + name);
    assert(built === kept, `${name} is old: run \`deno task web\``);
  }
});
