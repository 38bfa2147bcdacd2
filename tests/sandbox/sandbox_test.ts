import "../support/built.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { createHmac } from "node:crypto";
import { openApp } from "../../src/app.ts";
import { createClient, createOperatorClient } from "../../src/client/mod.ts";
import { systemClock, systemDeps } from "../../src/deps.ts";
import { imageHost } from "../../src/sandbox/image_host.ts";
import { openSandbox } from "../../src/sandbox/sandbox.ts";
import { webhookSink } from "../../src/sandbox/webhook_sink.ts";
import { RunningClock, until } from "../support/clock.ts";
import { testConfig } from "../support/config.ts";
import {
  runProgram,
  startProgram,
  temporaryFolder,
} from "../support/process.ts";

async function shell(script: string): Promise<string> {
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", script],
    stderr: "inherit",
  }).output();
  return new TextDecoder().decode(stdout);
}

Deno.test("the printed commands do what they say", async () => {
  await using program = await startProgram(["serve", "--sandbox", "--port=0"]);
  await program.line(/^curl .*\/hook$/);
  const lines = program.lines.slice(1).filter((line) => !line.startsWith("#"));
  assertMatch(program.lines.join(), /webhook secret, whsec_[\w+/=]+:/);
  const [upload, status, refused, attribute, many, webhook, event, ...others] =
    lines;
  const [policy, change, reviews, mails] = others;

  assertMatch(upload, /^id=\$\(curl /);
  // Both in one shell, because the second line uses a variable of the first
  // one.
  const outcome = await shell(`${upload}\n${status}`);
  assertStringIncludes(outcome, "<status>completed_with_errors</status>");
  assertStringIncludes(outcome, "<created>8</created>");
  assertStringIncludes(outcome, "<stored>7</stored>");
  for (
    const code of ["image_not_an_image", "image_too_large", "image_not_found"]
  ) assertStringIncludes(outcome, `<code>${code}</code>`);

  const { products } = await createClient({ url: program.url, key: "demo" })
    .products.list();
  const bySku = new Map(products.map((product) => [product.sku, product]));
  // The sale of TEA-1 is on for a minute.
  assertEquals(bySku.get("TEA-1")!.sale!.price, "69");
  assertEquals(bySku.get("TEA-2")!.sale!.state, "on");
  assertEquals(bySku.get("TEA-2")!.manufacturer, "teahouse");
  assertEquals(bySku.get("TEA-2")!.responsible_person, "import agent");
  assertMatch(bySku.get("TEA-2")!.safety_text!, /^Hot when filled/);
  assertEquals(bySku.get("TEA-3")!.sale!.state, "planned");

  const refusal = await shell(refused);
  for (
    const code of [
      "not_a_number",
      "image_unavailable",
      "duplicate_sku",
      "unknown_element",
    ]
  ) assertStringIncludes(refusal, `<code>${code}</code>`);

  assertStringIncludes(await shell(attribute), " 204 ");
  assertStringIncludes(await shell(many), "<transaction_id>");
  assertStringIncludes(await shell(webhook), "<success>true</success>");
  const [, id] = /<event_id>(.*)<\/event_id>/.exec(await shell(event))!;
  const received = await program.line(/^webhook order_created/);
  assertStringIncludes(received, `${id}: signature right`);

  await shell(`${policy}\n${change}`);
  const waiting = await shell(reviews);
  assertStringIncludes(waiting, "<field>title</field>");
  assertStringIncludes(waiting, "<former><title>Teapot</title></former>");
  assertEquals(await shell(mails), "\n", "none yet");

  const [sink] = /http:\/\/\S+\/hook$/.exec(
    program.lines.find((line) => /^curl .*\/hook$/.test(line))!,
  )!;
  const post = async (body: string) => {
    const response = await fetch(sink, { method: "POST", body });
    await response.body?.cancel();
    return response.status;
  };
  assertEquals(await post("<trigger>\u001b[2J\u009bm\nfake</trigger>"), 204);
  await program.line(/^webhook \\u001b\[2J\\u009bm\\u000afake null: REFUSED/);
  assertEquals(await post("x".repeat(1_000_000)), 413);

  const { code, stderr } = await program.stop();
  assertEquals(code, 0, stderr);
});

Deno.test("a sandbox shows its mails and offers reasons to reviewers", async () => {
  const lines: string[] = [];
  using clock = new RunningClock();
  clock.speed = 20;
  const deps = { ...systemDeps("error"), clock };
  const sandbox = await openSandbox({
    config: testConfig({ dataDir: "" }),
    deps,
    dataDir: null,
    host: null,
    print: (line) => lines.push(line),
  });
  const { config, page, mailer } = sandbox;
  const app = await openApp({ ...config, roles: ["api"] }, deps, {
    sandbox: page,
    mailer,
  });
  const url = app.url!;
  await sandbox.begin({ url, db: app.db });
  const operator = createOperatorClient({ url, key: page.operatorKey });
  const { reasons } = await operator.reasons.list();
  assertEquals(reasons.map(({ code }) => code), [
    "logo_in_image",
    "wrong_category",
  ]);
  await createClient({ url, key: page.sellerKey }).uploads.create({
    products: [{
      sku: "A",
      title: "A",
      price: { amount: "1", currency: "SEK" },
      quantity: 1,
    }],
  });
  await operator.sellers.setAttribute({
    seller: "demo",
    seller_attribute: "product_limit",
    value: "1",
  });
  const reported = "mail to demo@seller.example: demo: Your quota is used up";
  await until(
    () => lines.some((line) => line.startsWith(reported)),
    "the mail",
  );
  const mails = await (await fetch(page.mailUrl)).text();
  assertStringIncludes(mails, "Your quota is used up: 1 of 1 products.");
  await app.close();
  await sandbox.close();
});

Deno.test("a sandbox leaves nothing behind", async () => {
  await using folder = await temporaryFolder();
  const env = { TMPDIR: folder.path };
  await using program = await startProgram(["--sandbox", "--port=0"], { env });
  assertEquals([...Deno.readDirSync(folder.path)].length, 1);
  assertEquals((await program.stop()).code, 0);
  assertEquals([...Deno.readDirSync(folder.path)].length, 0);
});

Deno.test("a sandbox keeps the content of its folder", async () => {
  await using folder = await temporaryFolder();
  const args = ["serve", "--sandbox", "--port=0", `--data=${folder.path}`];
  for (let start = 1; start <= 2; start++) {
    await using program = await startProgram(args);
    await program.line(/^curl .*\/hook$/);
    assertEquals(
      program.lines.filter((line) => line.startsWith("# Data: ")),
      [`# Data: ${folder.path}.`],
    );
    assertEquals((await program.stop()).code, 0);
  }
  const { stdout } = await runProgram([
    "seller",
    "list",
    `--data=${folder.path}`,
  ]);
  assertMatch(stdout, /^\S+ {2}\S+ {2}1 key {2}active {2}demo\n$/);
});

Deno.test("a sandbox refuses a folder with a real seller", async () => {
  await using folder = await temporaryFolder();
  const data = `--data=${folder.path}`;
  await runProgram(["seller", "add", "acme", data]);
  const { code, stdout, stderr } = await runProgram(["--sandbox", data]);
  assertEquals(code, 2);
  assertEquals(stdout, "");
  assertStringIncludes(stderr, 'has the seller "acme"');
});

Deno.test("a sandbox takes neither SELLER_DATA_DIR nor SELLER_HOST", async () => {
  await using folder = await temporaryFolder();
  const env = { SELLER_DATA_DIR: `${folder.path}/real`, SELLER_HOST: "::" };
  await using program = await startProgram(["--sandbox", "--port=0"], { env });
  const hook = await program.line(/^curl .*\/hook$/);
  const [place] = /http:\S+(?=\/hook)/.exec(hook)!;
  await program.line(new RegExp(`^# Images, .* ${place}\\.$`));
  const data = await program.line(/^# Data: /);
  const [, used] = /^# Data: (\S+), removed .* SELLER_DATA_DIR does not\.$/
    .exec(data)!;
  assertEquals((await Deno.stat(`${used}/seller.db`)).isFile, true);
  assertMatch(program.url, /^http:\/\/127\.0\.0\.1:/);
  assertEquals([...Deno.readDirSync(folder.path)].length, 0);
  assertEquals((await program.stop()).code, 0);
});

/**
 * A delivery signed now with the key `secret`, except for what `headers`
 * replaces.
 */
function delivery(secret: string, headers: Record<string, string> = {}) {
  const body = "<event><trigger>order_paid</trigger></event>";
  const timestamp = String(Math.floor(systemClock.now() / 1000));
  const mac = createHmac("sha256", secret).update(`e1.${timestamp}.${body}`);
  return new Request("http://sink/hook", {
    method: "POST",
    body,
    headers: {
      "webhook-id": "e1",
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${mac.digest("base64")}`,
      ...headers,
    },
  });
}

const VERDICTS: readonly (readonly [string, Request, string])[] = [
  ["the seller's secret", delivery("good"), "signature right"],
  ["another secret", delivery("evil"), "REFUSED: No signature"],
  [
    "an old timestamp",
    delivery("good", { "webhook-timestamp": "1" }),
    "REFUSED: The timestamp 1 is too far from now",
  ],
  [
    "no number as timestamp",
    delivery("good", { "webhook-timestamp": "x" }),
    "REFUSED: The timestamp x is too far from now",
  ],
  [
    "another id",
    delivery("good", { "webhook-id": "e2" }),
    "REFUSED: No signature",
  ],
];

for (const [what, request, verdict] of VERDICTS) {
  Deno.test(`the sink says "${verdict}" to ${what}`, async () => {
    const lines: string[] = [];
    const sink = webhookSink({
      clock: systemClock,
      secrets: () => Promise.resolve([`whsec_${btoa("good")}`]),
      print: (line) => lines.push(line),
    });
    assertEquals((await sink(request)).status, 204);
    assertStringIncludes(lines.join(), verdict);
    const shown = await sink(new Request("http://sink/hook"));
    assertStringIncludes(await shown.text(), verdict);
  });
}

Deno.test("the image host answers each kind in its way", async () => {
  const host = imageHost({ clock: systemClock, imageLimit: 100_000 });
  const ask = async (method: string, path: string) => {
    const response = host(new Request(`http://host${path}`, { method }));
    return [response.status, (await response.bytes()).length];
  };
  const [, size] = await ask("GET", "/images/good/a.png");
  assert(size > 50);
  assertEquals(await ask("HEAD", "/images/good/a.png"), [200, 0]);
  assertEquals((await ask("HEAD", "/images/missing/a.png"))[0], 404);
  assertEquals((await ask("HEAD", "/images/redirect/a.png"))[0], 302);
  assertEquals(await ask("HEAD", "/images/vanishing/a.png"), [200, 0]);
  assertEquals((await ask("GET", "/images/vanishing/a.png"))[0], 404);
  assertEquals((await ask("GET", "/images/flaky/a.png"))[0], 503);
  assertEquals(await ask("GET", "/images/flaky/a.png"), [200, size]);
  assert((await ask("GET", "/images/oversized/a.png"))[1] > 100_000);
  assertEquals((await ask("GET", "/images/good/a.txt"))[0], 404);
});
