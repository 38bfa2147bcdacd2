/** The program's output contains no keys and secrets. */
import { assert, assertEquals } from "@std/assert";
import { product } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { ImageHost } from "../support/image_host.ts";
import { runProgram, temporaryFolder } from "../support/process.ts";
import { Service } from "../processes/service.ts";
import { raw } from "../support/raw.ts";
import { WebhookSink } from "../support/webhook_sink.ts";

const OPERATOR = "the-operators-own-key";
const GUESSED = "a-key-that-somebody-guessed";

function valueOf(name: string, printed: string): string {
  return new RegExp(`^${name}: (\\S+)$`, "m").exec(printed)![1];
}

/** Sends requests of all kinds, valid and invalid. */
async function useEverything(
  service: Service,
  keys: readonly string[],
  hosts: { image: string; hook: string },
): Promise<void> {
  const image = `<images><image>${hosts.image}</image></images>`;
  const bodies = [
    undefined,
    `<products>${product("A", image)}</products>`,
    `<products>${product("A", "<colour/>")}</products>`,
    "<products><product>&",
    "<webhook><trigger>order_created</trigger>" +
    `<url>${hosts.hook}</url></webhook>`,
    "<event><seller>acme</seller><trigger>order_created</trigger>" +
    "<reference>1</reference></event>",
  ];
  const paths = [
    "/seller_api/bulk_products?v=1.1",
    "/seller_api/webhooks",
    "/seller_api/products/A/attribute/title/Mug",
    "/operator_api/events",
    "/operator_api/status",
    "/readyz",
  ];
  for (const key of keys) {
    // Keys in places where they do not belong.
    const misplaced = [`/seller_api/${key}`, `/readyz?key=${key}`];
    for (const path of [...paths, ...misplaced]) {
      for (const body of bodies) {
        await service.ask(path, { key, body });
      }
    }
    await raw(
      service.url,
      `GET /seller_api/%zz HTTP/1.1\r\nHost: x\r\nX-Service-Auth: ${key}\r\n\r\n`,
    );
  }
}

Deno.test("no key or secret is in the log, the output or the list of processes", async () => {
  await using folder = await temporaryFolder();
  await using images = new ImageHost();
  await using sink = new WebhookSink();
  const data = `--data=${folder.path}`;
  const { stdout: added } = await runProgram(["seller", "add", "acme", data]);
  const key = valueOf("api_key", added);
  const secret = valueOf("webhook_secret", added);
  await using service = new Service(folder.path, new Map([["acme", key]]), {
    env: { SELLER_OPERATOR_KEY: OPERATOR, SELLER_LOG: "debug" },
  });
  await service.start();
  await useEverything(service, [key, OPERATOR, GUESSED], {
    image: `${images.url}/missing/a.png`,
    hook: sink.url(),
  });
  await until(() => sink.received.length > 0, "the event");
  assert(sink.received.every(({ text }) => !text.includes(secret)));
  if (Deno.build.os === "linux") {
    const shown = await Deno.readTextFile(
      `/proc/${service.program.pid}/cmdline`,
    );
    for (const word of [key, secret, OPERATOR]) assert(!shown.includes(word));
  }
  const { code, stdout, stderr } = await service.stop();
  assertEquals(code, 0);
  const lines = stderr.split("\n");
  assert(lines.length > 50, "the log was read");
  const secrets = [
    key,
    secret,
    secret.replace("whsec_", ""),
    OPERATOR,
    GUESSED,
  ];
  for (const word of secrets) {
    const reported = lines.find((line) => line.includes(word));
    assertEquals(reported, undefined);
    assert(!stdout.includes(word), stdout);
  }
});
