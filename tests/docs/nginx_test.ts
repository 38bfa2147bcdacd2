/**
 * The configuration of nginx in the handbook, tried with nginx itself in front
 * of the service. Debian has it in the package `nginx-light`.
 */
import { assert, assertEquals } from "@std/assert";
import { boot, product } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { operatorFile } from "../support/handbook.ts";
import { freePort, hasProgram, temporaryFolder } from "../support/process.ts";
import { raw, statusOf } from "../support/raw.ts";

const NGINX = "/usr/sbin/nginx";

const ignore = !hasProgram(NGINX, "-v");
if (ignore) console.log("not tried: the handbook's proxy, without nginx");

/** The handbook's server without TLS, between these two. */
function configuration(port: number, upstream: string): string {
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

async function startNginx(upstream: string) {
  const folder = await temporaryFolder();
  const port = freePort();
  const file = `${folder.path}/nginx.conf`;
  await Deno.writeTextFile(file, configuration(port, upstream));
  const process = new Deno.Command(NGINX, {
    args: ["-p", folder.path, "-c", file, "-e", "stderr"],
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

Deno.test({
  name: "nginx of the handbook passes answers as they are, and fails in XML",
  ignore,
  fn: async () => {
    await using app = await boot();
    await using nginx = await startNginx(app.url);
    const headers = {
      "X-Service-Auth": app.key,
      "Content-Type": "text/xml",
    };
    const ask = async (path: string, body?: string) => {
      const method = body === undefined ? "GET" : "POST";
      const answer = await fetch(nginx.url + path, { method, headers, body });
      const { status } = answer;
      const text = await answer.text();
      const type = answer.headers.get("content-type");
      const after = answer.headers.get("retry-after");
      const code = /<code>(\w+)</.exec(text)?.[1];
      return { status, type, after, text, code };
    };
    const products = "/seller_api/bulk_products?v=1.1";
    const type = "text/xml; charset=utf-8";

    const sku = "A/1";
    const stored = await ask(
      products,
      `<products>${product(sku)}</products>`,
    );
    assertEquals(stored.status, 200, stored.text);
    const shown = await ask(`/seller_api/products/${encodeURIComponent(sku)}`);
    assertEquals(shown.status, 200);
    const refused = await ask(products, "<products/>");
    assertEquals([refused.status, refused.code], [422, "record_invalid"]);

    const large = await ask(products, " ".repeat(16 * 1024 * 1024 + 1));
    assertEquals(
      [large.status, large.type, large.code],
      [413, type, "body_too_large"],
    );
    const imports = "/seller_api/imports?v=1.1";
    const padding = " ".repeat(16 * 1024 * 1024);
    const taken = await ask(
      imports,
      `<products>${padding}${product("B")}</products>`,
    );
    assertEquals(taken.status, 200, taken.text);
    const beyond = await ask(imports, " ".repeat(64 * 1024 * 1024 + 1));
    assertEquals(
      [beyond.status, beyond.type, beyond.code],
      [413, type, "body_too_large"],
    );
    const broken = await raw(nginx.url, "GET / HTTP/1.1\r\n\r\n");
    assertEquals(statusOf(broken), 400);
    assert(broken.includes("<code>malformed_request</code>"), broken);
    assert(broken.includes(`Content-Type: ${type}`), broken);

    await app.app.close();
    const away = await ask(products, "<products/>");
    assertEquals(
      [away.status, away.type, away.after, away.code],
      [503, type, "5", "unavailable"],
    );
  },
});
