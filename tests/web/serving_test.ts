/** How the page is served. */
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

/** URLs of the files that the page loads first. */
function assetsOf(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)]
    .map(([, path]) => path);
}

/** URLs of the other scripts that a script refers to. */
function scriptsIn(path: string, text: string): string[] {
  const folder = path.replace(/[^/]+$/, "");
  return [...text.matchAll(/"\.\/([\w-]+\.js)"/g)]
    .map(([, name]) => folder + name);
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
});

Deno.test("the page's files are cached forever, under names from their content", async () => {
  await using app = await boot();
  const first = assetsOf((await get(app, "/")).text);
  const all = new Set(first);
  for (const path of all) {
    assertMatch(path, /^\/assets\/[0-9a-f]{16}\/[\w-]+\.(js|css|svg)$/);
    const { status, headers, text } = await get(app, path);
    assertEquals(status, 200, path);
    assertStringIncludes(headers.get("cache-control")!, "immutable");
    assertEquals(headers.get("x-content-type-options"), "nosniff");
    for (const other of scriptsIn(path, text)) all.add(other);
  }
  assert(all.size > first.length, "nothing is loaded when it is needed");
  assertEquals(
    (await get(app, first[0].replace(/[0-9a-f]{16}/, "0".repeat(16)))).status,
    404,
  );
});

Deno.test("a page that the browser has is not sent again", async () => {
  await using app = await boot();
  const first = await get(app, "/");
  assertEquals(first.headers.get("cache-control"), "no-cache");
  const etag = first.headers.get("etag")!;
  const again = await get(app, "/", { "If-None-Match": etag });
  assertEquals([again.status, again.text], [304, ""]);
});

Deno.test("the first view has less than 32 KB, compressed", async () => {
  await using app = await boot();
  const paths = ["/", ...assetsOf((await get(app, "/")).text)];
  // The first script loads no other one until that is needed.
  const script = paths.find((path) => path.endsWith("/page.js"))!;
  const { text } = await get(app, script);
  const begins = scriptsIn(script, text.replaceAll(/import\("[^"]+"\)/g, ""));
  assertEquals(begins.filter((path) => !paths.includes(path)), []);
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
    const [head] = new TextDecoder("latin1").decode(answer)
      .split("\r\n\r\n", 1);
    assertStringIncludes(head.toLowerCase(), "content-encoding: gzip");
    size += answer.length - head.length - "\r\n\r\n".length;
  }
  assertLess(size, 32 * 1_024);
});

Deno.test("the page's scripts import each other and nothing else", async () => {
  const scripts: Record<string, string> = JSON.parse(
    await Deno.readTextFile(
      new URL("../../src/web/dist/scripts.json", import.meta.url),
    ),
  );
  const names = Object.keys(scripts);
  // A browser refuses a script that imports `node:buffer`, for example.
  const foreign = names.flatMap((name) =>
    [...scripts[name].matchAll(/(?:\bfrom|\bimport)\(?"(\w+:[^"]+|\.[^"]*)"/g)]
      .map(([, specifier]) => specifier)
      .filter((specifier) => !names.includes(specifier.replace("./", "")))
      .map((specifier) => `${name}: ${specifier}`)
  );
  assertEquals(foreign, []);
});

Deno.test("only a sandbox gives its page a key", async () => {
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
