/**
 * Runs each function that the handbook offers for verifying a delivery, in its
 * language, on a delivery of the service and on deliveries that must be
 * refused.
 */
import { assert, assertEquals } from "@std/assert";
import { Webhook } from "standardwebhooks";
import { blocks, chapter } from "../support/handbook.ts";
import { boot } from "../support/app.ts";
import { present } from "../support/foreign.ts";
import { CSHARP_PROJECT, QUICK_JAVA } from "../support/compiled.ts";
import { temporaryFolder } from "../support/process.ts";
import { WebhookSink } from "../support/webhook_sink.ts";

const SNIPPETS = blocks(chapter("webhooks"));

function snippet(language: string): string {
  return SNIPPETS.find((block) => block.language === language)!.code;
}

interface Delivery {
  id: string;
  timestamp: string;
  signature: string;
  body: string;
}

/**
 * One program for each language: reads one case in each line, prints true or
 * false.
 */
interface Runner {
  /** The language of its block. */
  language: string;
  /** Whether the language is installed. */
  probe: [string, ...string[]];
  /** Files of the program, by name. */
  files: Record<string, string>;
  run: string[];
}

const RUNNERS: Runner[] = [
  {
    language: "python",
    probe: ["python3", "--version"],
    files: {
      "main.py": `${snippet("python")}
import sys
for line in sys.stdin:
    secret, id, timestamp, signature, body = line.rstrip("\\n").split("\\t")
    headers = {"webhook-id": id, "webhook-timestamp": timestamp,
               "webhook-signature": signature}
    headers = {name: value for name, value in headers.items() if value}
    print(str(verify(secret, headers, base64.b64decode(body))).lower())
`,
    },
    run: ["python3", "main.py"],
  },
  {
    language: "php",
    probe: ["php", "--version"],
    files: {
      "main.php": `<?php
${snippet("php")}
while (($line = fgets(STDIN)) !== false) {
    [$secret, $id, $timestamp, $signature, $body] = explode("\\t", trim($line));
    $headers = array_filter(['webhook-id' => $id,
        'webhook-timestamp' => $timestamp, 'webhook-signature' => $signature]);
    echo verify($secret, $headers, base64_decode($body)) ? "true\\n" : "false\\n";
}
`,
    },
    run: ["php", "main.php"],
  },
  {
    language: "java",
    probe: ["java", "-version"],
    files: {
      // Java runs the first class of the file.
      "Main.java": snippet("java").replace(
        "final class Webhooks",
        () =>
          `class Main {
  public static void main(String[] args) throws Exception {
    var lines = new java.util.Scanner(System.in);
    while (lines.hasNextLine()) {
      String[] part = lines.nextLine().split("\\t");
      var headers = java.util.Map.of("webhook-id", part[1],
          "webhook-timestamp", part[2], "webhook-signature", part[3]);
      byte[] body = Base64.getDecoder().decode(part[4]);
      java.util.function.Function<String, String> header = (name) ->
          headers.get(name).isEmpty() ? null : headers.get(name);
      System.out.println(Webhooks.verify(part[0], header, body));
    }
  }
}

final class Webhooks`,
      ),
    },
    run: ["java", ...QUICK_JAVA, "Main.java"],
  },
  {
    language: "csharp",
    probe: ["dotnet", "--version"],
    files: {
      "main.csproj": CSHARP_PROJECT,
      "Program.cs": snippet("csharp").replace(
        "static class Webhooks",
        () =>
          `while (Console.ReadLine() is string line)
{
    var part = line.Split('\\t');
    var headers = new Dictionary<string, string> { ["webhook-id"] = part[1],
        ["webhook-timestamp"] = part[2], ["webhook-signature"] = part[3] };
    string? Header(string name) => headers[name] == "" ? null : headers[name];
    var body = Convert.FromBase64String(part[4]);
    Console.WriteLine(Webhooks.Verify(part[0], Header, body) ? "true" : "false");
}

static class Webhooks`,
      ),
    },
    run: ["dotnet", "run"],
  },
];

async function output(
  [command, ...args]: readonly string[],
  options: { cwd?: string; input?: string } = {},
): Promise<string> {
  const child = new Deno.Command(command, {
    args,
    cwd: options.cwd,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(options.input ?? ""));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  assert(success, decode(stderr));
  return decode(stdout);
}

/** A delivery of the service, and the secret that signed it. */
async function realDelivery(): Promise<{ secret: string; sent: Delivery }> {
  await using sink = new WebhookSink();
  await using app = await boot({
    config: { operatorKey: "op", roles: ["api", "webhooks"] },
  });
  const received = new Promise<Delivery>((resolve) => {
    sink.answering = ({ headers, text }) => {
      resolve({
        id: headers.get("webhook-id")!,
        timestamp: headers.get("webhook-timestamp")!,
        signature: headers.get("webhook-signature")!,
        body: text,
      });
      return new Response();
    };
  });
  await app.call("/seller_api/webhooks", {
    method: "POST",
    body:
      `<webhook><trigger>order_created</trigger><url>${sink.url()}</url></webhook>`,
  });
  await app.call("/operator_api/events", {
    method: "POST",
    key: "op",
    body: "<event><seller>acme</seller><trigger>order_created</trigger>" +
      "<reference>1</reference><data><order><number>1001</number>" +
      '<total currency="SEK">149.00</total></order></data></event>',
  });
  const sent = await received;
  const row = await app.app.db.read((sql) =>
    sql.get<{ secret: string }>("SELECT webhook_secret AS secret FROM sellers")
  );
  return { secret: row!.secret, sent };
}

/** Signs like another implementation of Standard Webhooks. */
function signed(secret: string, body: string, ageSeconds: number): Delivery {
  const at = new Date(Date.now() - ageSeconds * 1000);
  return {
    id: "msg_1",
    timestamp: String(Math.floor(at.getTime() / 1000)),
    signature: new Webhook(secret).sign("msg_1", at, body),
    body,
  };
}

let delivery: ReturnType<typeof realDelivery> | undefined;

/** Created when a test needs it: the module may be loaded minutes before. */
function delivered(): ReturnType<typeof realDelivery> {
  return delivery ??= realDelivery();
}

const OTHER = "whsec_" + btoa("another secret of thirty-two bytes");

/** The name of the case, whether it must be accepted, and the delivery. */
function casesOf(
  secret: string,
  sent: Delivery,
): [string, boolean, Delivery][] {
  const utf8 = signed(secret, "<event>å 🎉</event>", 0);
  const [mac] = sent.signature.split(",").slice(1);
  return [
    ["as the service sends it", true, sent],
    ["with text beyond ASCII", true, utf8],
    ["two minutes old", true, signed(secret, "<event/>", 120)],
    ["six minutes old", false, signed(secret, "<event/>", 360)],
    ["six minutes ahead", false, signed(secret, "<event/>", -360)],
    ["signed with two secrets, ours last", true, {
      ...utf8,
      signature: `${signed(OTHER, utf8.body, 0).signature} ${utf8.signature}`,
    }],
    ["signed with another secret", false, signed(OTHER, "<event/>", 0)],
    ["with another body", false, { ...sent, body: `${sent.body} ` }],
    ["with another id", false, { ...sent, id: "msg_2" }],
    ["with another time", false, {
      ...sent,
      timestamp: String(Number(sent.timestamp) - 1),
    }],
    ["with a time that is no number", false, { ...sent, timestamp: "now" }],
    ["with a time of 5,000 digits", false, {
      ...sent,
      timestamp: "9".repeat(5_000),
    }],
    ["without an id", false, { ...sent, id: "" }],
    ["without a time", false, { ...sent, timestamp: "" }],
    ["without a signature", false, { ...sent, signature: "" }],
    ["with a signature of another version", false, {
      ...sent,
      signature: `v2,${mac}`,
    }],
    ["with the beginning of the signature", false, {
      ...sent,
      signature: sent.signature.slice(0, -4),
    }],
    ["with a signature beyond ASCII", false, { ...sent, signature: "v1,åäö" }],
    ["with an empty signature", false, { ...sent, signature: " " }],
  ];
}

function lineOf(
  secret: string,
  { id, timestamp, signature, body }: Delivery,
): string {
  const bytes = new TextEncoder().encode(body).toBase64();
  return [secret, id, timestamp, signature, bytes].join("\t") + "\n";
}

for (const runner of RUNNERS) {
  const { language, probe } = runner;
  Deno.test({
    name: `the function in ${language} accepts only valid signatures`,
    ignore: !await present(`the function in ${language}`, probe),
    async fn() {
      await using folder = await temporaryFolder();
      for (const [name, text] of Object.entries(runner.files)) {
        const path = `${folder.path}/${name}`;
        await Deno.mkdir(path.replace(/\/[^/]*$/, ""), { recursive: true });
        await Deno.writeTextFile(path, text);
      }
      const { secret, sent } = await delivered();
      const cases = casesOf(secret, sent);
      const printed = await output(runner.run, {
        cwd: folder.path,
        input: cases.map(([, , delivery]) => lineOf(secret, delivery)).join(""),
      });
      const said = printed.trim().split("\n");
      assertEquals(
        cases.map(([name], i) => `${name}: ${said[i]}`),
        cases.map(([name, right]) => `${name}: ${right}`),
      );
    },
  });
}

Deno.test("a delivery has the form that the handbook shows", async () => {
  const { sent } = await delivered();
  const shown = SNIPPETS.find(({ language, code }) =>
    language === "xml" && code.startsWith("<event>")
  )!;
  const without = (text: string) =>
    text.trim().replace(/<id>[^<]+/, "<id>")
      .replace(/<created_at>[^<]+/, "<created_at>");
  assertEquals(without(sent.body), without(shown.code));
});
