/** Mail through a real server, which may do anything. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { systemClock } from "../../src/deps.ts";
import { type Mail, SmtpMailer } from "../../src/net/smtp.ts";
import { MailServer, type MailServerOptions } from "../support/mail_server.ts";

const FROM = { name: "Shöp", address: "notices@shop.example" };
const MAIL: Mail = {
  to: "orders@acme.example",
  subject: "Två saker – to know",
  text: "Först.\n\n.A line with a dot.\nhttp://127.0.0.1/#/webhooks/x\n",
  id: "0193-1",
  date: Date.UTC(2026, 10, 24),
  headers: { "List-Unsubscribe": "<http://127.0.0.1/notices/a/b>" },
};

interface SendOptions {
  login?: { user: string; password: string } | null;
  host?: string;
  secure?: boolean;
  clock?: typeof systemClock;
  abort?: AbortSignal;
}

async function send(port: number, options: SendOptions = {}) {
  const { host = "127.0.0.1", secure = false, login = null } = options;
  const { clock = systemClock, abort = new AbortController().signal } = options;
  const server = { host, port, secure, login };
  const mailer = new SmtpMailer({ server, from: FROM, clock });
  const result = await mailer.send(MAIL, abort);
  assert(!result.reason.includes("@"), result.reason);
  return result;
}

/** As if everything were fifty times as fast. */
const FAST: typeof systemClock = {
  ...systemClock,
  after: (ms, fn) => systemClock.after(ms / 50, fn),
};

const LOGIN = { user: "mailer", password: "hush" };

Deno.test("a mail arrives unchanged, with its sender and a way to unsubscribe", async () => {
  await using server = await MailServer.start();
  assertEquals(await send(server.port), { outcome: "sent", reason: "" });
  const [{ to, headers, text, secure }] = server.received;
  assertEquals(to, MAIL.to);
  assertEquals(secure, true);
  assertEquals(text.replaceAll("\r\n", "\n"), MAIL.text);
  assertEquals(headers.get("message-id"), "<0193-1@shop.example>");
  assertEquals(headers.get("to"), MAIL.to);
  assertMatch(headers.get("from")!, /<notices@shop\.example>$/);
  assertEquals(headers.get("auto-submitted"), "auto-generated");
  assertEquals(headers.get("date"), "Tue, 24 Nov 2026 00:00:00 +0000");
  assertEquals(
    headers.get("list-unsubscribe"),
    MAIL.headers["List-Unsubscribe"],
  );
});

for (const tls of ["starttls", "always", "none"] as const) {
  Deno.test(`a password is sent to this machine, TLS: ${tls}`, async () => {
    await using server = await MailServer.start({ tls, password: "hush" });
    const secure = tls === "always";
    const { outcome } = await send(server.port, { login: LOGIN, secure });
    assertEquals(outcome, "sent");
    assertEquals(server.logins, [{ password: "hush", secure: tls !== "none" }]);
    assertEquals(server.received[0].user, "mailer");
  });
}

for (const tls of ["starttls", "always", "none"] as const) {
  Deno.test(`a password is sent to another machine only over trusted TLS, TLS: ${tls}`, async () => {
    await using server = await MailServer.start({ tls, password: "hush" });
    // The resolver knows this name; the service does not.
    const elsewhere = { host: "127.1", secure: tls === "always" };
    const result = await send(server.port, { login: LOGIN, ...elsewhere });
    assertEquals(result.outcome, "away", result.reason);
    assertEquals(server.logins, []);
    assertEquals(server.received, []);
  });
}

const REFUSED: Record<
  string,
  [outcome: string, reason: string, server: MailServerOptions]
> = {
  "an unknown address": ["refused", "550 to RCPT TO", {
    onRecipient: (address) => [550, `<${address}>: unknown`],
  }],
  "greylisting": ["later", "451 to RCPT TO", {
    onRecipient: (address) => [451, `<${address}>: try again`],
  }],
  "a full mailbox": ["later", "452 to RCPT TO", {
    onRecipient: () => [452, "full"],
  }],
  "an overloaded server": ["away", "421 to CONN", {
    onRecipient: () => [421, "busy"],
  }],
  "unwanted content": ["refused", "554 to DATA", {
    onData: ({ to }) => [554, `${to} wants none`],
  }],
  "a server that fails late": ["later", "451 to DATA", {
    onData: () => [451, "disk"],
  }],
};

for (const [what, [outcome, reason, options]] of Object.entries(REFUSED)) {
  Deno.test(`${what}: the mail is ${outcome}`, async () => {
    await using server = await MailServer.start(options);
    assertEquals(await send(server.port), { outcome, reason });
    assertEquals(server.received, []);
  });
}

Deno.test("a wrong password is reported as the operator's problem, not the address's", async () => {
  await using server = await MailServer.start({ password: "other" });
  const { outcome, reason } = await send(server.port, { login: LOGIN });
  assertEquals([outcome, reason], ["away", "535 to AUTH PLAIN"]);
});

Deno.test("a server that refuses connections is unreachable", async () => {
  const server = await MailServer.start();
  const { port } = server;
  await server[Symbol.asyncDispose]();
  assertEquals((await send(port)).outcome, "away");
});

Deno.test("a server that is silent after the data may have the mail", async () => {
  const taken = Promise.withResolvers<void>();
  await using server = await MailServer.start({
    onData: () => {
      taken.resolve();
      return new Promise(() => {});
    },
  });
  const { outcome } = await send(server.port, { clock: FAST });
  await taken.promise;
  assertEquals(outcome, "unsure");
});

Deno.test("a server that dies after the data may have the mail", async () => {
  await using server = await MailServer.start({
    onData: () => {
      server.cut();
      return new Promise(() => {});
    },
  });
  assertEquals((await send(server.port)).outcome, "unsure");
});

Deno.test("a server that dies before the data does not have the mail", async () => {
  await using server = await MailServer.start({
    onRecipient: () => {
      server.cut();
      return new Promise(() => {});
    },
  });
  assertEquals((await send(server.port)).outcome, "away");
});

/** A server that gives one answer. */
async function raw(
  answer: (conn: Deno.TcpConn) => Promise<void>,
  use: (port: number) => Promise<void>,
): Promise<void> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const served = (async () => {
    for await (const conn of listener) {
      await answer(conn).catch(() => {});
      try {
        conn.close();
      } catch {
        // It is closed already.
      }
    }
  })();
  await use(listener.addr.port);
  listener.close();
  await served;
}

Deno.test("a server that sends no greeting in time is unreachable", async () => {
  await raw(async (conn) => {
    await conn.read(new Uint8Array(1));
  }, async (port) => {
    const result = await send(port, { clock: FAST });
    assertEquals(result, { outcome: "away", reason: "timeout" });
  });
});

Deno.test("an endless answer is not read to the end", async () => {
  const line = new TextEncoder().encode("220-".padEnd(65_536, "x"));
  let bytes = 0;
  await raw(async (conn) => {
    for (let n = 0; n < 1_000; n++) bytes += await conn.write(line);
  }, async (port) => {
    const { outcome } = await send(port);
    assertEquals(outcome, "away");
  });
  assert(bytes < 20_000_000, `${bytes}`);
});

Deno.test("an aborted mail ends at once", async () => {
  const abort = new AbortController();
  await using server = await MailServer.start({
    onRecipient: () => {
      abort.abort();
      return new Promise(() => {});
    },
  });
  const { outcome } = await send(server.port, { abort: abort.signal });
  assertEquals(outcome, "away");
});

Deno.test("a mail aborted before it begins is not sent", async () => {
  const server = await MailServer.start();
  const { port } = server;
  await server[Symbol.asyncDispose]();
  const { outcome } = await send(port, { abort: AbortSignal.abort() });
  assertEquals(outcome, "away");
});
