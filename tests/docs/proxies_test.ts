/**
 * The handbook's configurations of reverse proxies, tested with nginx and Caddy
 * in front of the service. Debian has them in the packages `nginx-light` and
 * `caddy`.
 */
import { assert, assertEquals } from "@std/assert";
import { LONG_BODY_TIMEOUT_MS } from "../../src/http/admission/body.ts";
import { boot, product, type TestApp } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { operatorFile } from "../support/handbook.ts";
import { freePort, hasProgram, temporaryFolder } from "../support/process.ts";
import { raw, statusOf } from "../support/raw.ts";

const NGINX = "/usr/sbin/nginx";
const CADDY = "caddy";

const hasNginx = hasProgram(NGINX, "-v");
if (!hasNginx) console.log("not tried: the handbook's proxy, without nginx");
const hasCaddy = hasProgram(CADDY, "version");
if (!hasCaddy) console.log("not tried: the handbook's proxy, without caddy");

/** The handbook's server block without TLS, between these two lines. */
function nginxFile(port: number, upstream: string): string {
  const server = operatorFile("nginx.conf").split("\n")
    .filter((line) => !line.includes("ssl_certificate"))
    .map((line) =>
      line.replace("listen 443 ssl", `listen 127.0.0.1:${port}`)
        .replace("http://127.0.0.1:8080", upstream)
    );
  return `daemon off;
master_process off;
pid nginx.pid;
error_log stderr;
events {}
http {
access_log off;
client_body_temp_path body;
proxy_temp_path proxy;
fastcgi_temp_path fastcgi;
uwsgi_temp_path uwsgi;
scgi_temp_path scgi;
${server.join("\n")}
}
`;
}

/** The same for Caddy, without its admin API. */
const caddyFile = operatorFile("Caddyfile")
  .replace(/^\{$/m, "{\n    admin off");

/** Paths that operators reach. */
const OPERATORS = "operator.example.com";

/** Keeps Caddy from listening elsewhere. */
const caddyNames = (port: number, upstream: string) => ({
  SELLERS_HOST: `http://127.0.0.1:${port}`,
  OPERATORS_HOST: `http://${OPERATORS}:${port}`,
  SERVICE: new URL(upstream).host,
});

async function startProxy(program: string, upstream: string) {
  const folder = await temporaryFolder();
  const port = freePort();
  const file = `${folder.path}/proxy.conf`;
  const isNginx = program === NGINX;
  await Deno.writeTextFile(
    file,
    isNginx ? nginxFile(port, upstream) : caddyFile,
  );
  const process = new Deno.Command(program, {
    args: isNginx
      ? ["-p", folder.path, "-c", file, "-e", "stderr"]
      : ["run", "--adapter", "caddyfile", "--config", file],
    env: {
      ...caddyNames(port, upstream),
      HOME: folder.path,
      XDG_DATA_HOME: folder.path,
    },
    stdout: "null",
    stderr: "null",
  }).spawn();
  const url = `http://127.0.0.1:${port}`;
  await until(() =>
    fetch(url).then(async (answer) => {
      await answer.body?.cancel();
      return true;
    }, () => false)
  );
  return {
    url,
    async [Symbol.asyncDispose]() {
      process.kill();
      await process.status;
      await folder[Symbol.asyncDispose]();
    },
  };
}

const TYPE = "text/xml; charset=utf-8";
const UPLOADS = "/seller_api/bulk_products?v=1.1";
const IMPORTS = "/seller_api/imports?v=1.1";

function client(url: string, key: string) {
  return async (path: string, body?: BodyInit) => {
    const answer = await fetch(url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { "X-Service-Auth": key, "Content-Type": "text/xml" },
      body,
    });
    const text = await answer.text();
    return {
      status: answer.status,
      type: answer.headers.get("content-type"),
      after: answer.headers.get("retry-after"),
      code: /<code>(\w+)</.exec(text)?.[1],
      text,
    };
  };
}

const OPERATOR = { config: { operatorKey: "op" } };

/** The operator API and metrics are only on the operators' host. */
async function keepsOperatorsApart(url: string): Promise<void> {
  const ask = async (path: string, host: string) => {
    const head = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n` +
      "X-Service-Auth: op\r\nConnection: close\r\n\r\n";
    return statusOf(await raw(url, head));
  };
  const { host } = new URL(url);
  for (
    const path of [
      "/operator_api/sellers",
      "/operator_api",
      "//operator_api/sellers",
      "/operator%5Fapi/sellers",
      "/seller_api/../operator_api/sellers",
      "/metrics",
    ]
  ) {
    assertEquals(await ask(path, host), 404, path);
  }
  for (const path of ["/operator_api/sellers", "/metrics", "/healthz"]) {
    assertEquals(await ask(path, OPERATORS), 200, path);
  }
  assertEquals(await ask("/healthz", host), 200);
}

/** Answers pass unchanged, and an unreachable service is reported in XML. */
async function passesAnswers(app: TestApp, url: string): Promise<void> {
  const ask = client(url, app.key);
  const sku = "A/1";
  const stored = await ask(UPLOADS, `<products>${product(sku)}</products>`);
  assertEquals(stored.status, 200, stored.text);
  const shown = await ask(`/seller_api/products/${encodeURIComponent(sku)}`);
  assertEquals(shown.status, 200);
  const refused = await ask(UPLOADS, "<products/>");
  assertEquals([refused.status, refused.code], [422, "record_invalid"]);

  const large = await ask(UPLOADS, " ".repeat(16 * 1024 * 1024 + 1));
  assertEquals(
    [large.status, large.type, large.code],
    [413, TYPE, "body_too_large"],
  );
  const padding = " ".repeat(16 * 1024 * 1024);
  const taken = await ask(
    IMPORTS,
    `<products>${padding}${product("B")}</products>`,
  );
  assertEquals(taken.status, 200, taken.text);
  const beyond = await ask(IMPORTS, " ".repeat(64 * 1024 * 1024 + 1));
  assertEquals(
    [beyond.status, beyond.type, beyond.code],
    [413, TYPE, "body_too_large"],
  );

  await app.app.close();
  const away = await ask(UPLOADS, "<products/>");
  assertEquals(
    [away.status, away.type, away.after, away.code],
    [503, TYPE, "5", "unavailable"],
  );
}

Deno.test({
  name:
    "the handbook's nginx passes answers unchanged, and its own errors are XML",
  ignore: !hasNginx,
  fn: async () => {
    await using app = await boot(OPERATOR);
    await using nginx = await startProxy(NGINX, app.url);
    await keepsOperatorsApart(nginx.url);
    const broken = await raw(nginx.url, "GET / HTTP/1.1\r\n\r\n");
    assertEquals(statusOf(broken), 400);
    assert(broken.includes("<code>malformed_request</code>"), broken);
    const long = "x".repeat(9_000);
    for (
      const head of [
        "GET /%zz HTTP/1.1\r\nHost: a",
        "GET /%00 HTTP/1.1\r\nHost: a",
        "GET /../../x HTTP/1.1\r\nHost: a",
        `GET /${long} HTTP/1.1\r\nHost: a`,
        `GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${long}`,
        "garbage",
      ]
    ) {
      const answer = await raw(nginx.url, `${head}\r\n\r\n`);
      const told = `${head.slice(0, 40)}: ${answer}`;
      assert(answer.includes("<code>malformed_request</code>"), told);
      assertEquals(statusOf(answer), 400, told);
    }
    assert(broken.includes(`Content-Type: ${TYPE}`), broken);
    await passesAnswers(app, nginx.url);
  },
});

Deno.test({
  name:
    "the handbook's Caddy passes answers unchanged, and its own errors are XML",
  ignore: !hasCaddy,
  fn: async () => {
    await using app = await boot(OPERATOR);
    await using caddy = await startProxy(CADDY, app.url);
    await keepsOperatorsApart(caddy.url);
    await passesAnswers(app, caddy.url);
  },
});

Deno.test({
  name: "the handbook's Caddy gives a slow import as much time as the service",
  ignore: !hasCaddy,
  fn: async () => {
    await using folder = await temporaryFolder();
    const { success, stdout } = await new Deno.Command(CADDY, {
      args: ["adapt", "--adapter", "caddyfile", "--config", "Caddyfile"],
      cwd: new URL("../../src/docs/files/", import.meta.url),
      env: { HOME: folder.path, XDG_DATA_HOME: folder.path },
      stderr: "null",
    }).output();
    assert(success);
    const { apps } = JSON.parse(new TextDecoder().decode(stdout));
    assertEquals(
      apps.http.servers.srv0.read_timeout,
      LONG_BODY_TIMEOUT_MS * 1_000_000,
    );
  },
});
