/**
 * Sends mail through a mail server (SMTP, RFC 5321). The operator chose the
 * server, so its address and its answers are not checked. The time and the
 * length of its answers are limited.
 */
import { connect, isIPv4, type Socket } from "node:net";
import { Readable } from "node:stream";
import type { Clock } from "../deps.ts";
import type { MailFrom, MailServer } from "../lib/email.ts";

export interface Mail {
  to: string;
  subject: string;
  text: string;
  /** The part of the Message-ID before the `@`; the same in every attempt. */
  id: string;
  /** Unix milliseconds. */
  date: number;
  headers: Readonly<Record<string, string>>;
}

export type MailOutcome =
  /** The server has accepted the mail. */
  | "sent"
  /** The server refuses mail for this address. */
  | "refused"
  /** The server does not accept mail for this address now. */
  | "later"
  /** The server cannot be reached, or accepts no mail from this service. */
  | "away"
  /** The connection broke after the server may have accepted the mail. */
  | "unsure";

export interface MailResult {
  outcome: MailOutcome;
  /** For the log, without an address; "" if the mail was sent. */
  reason: string;
}

export interface Mailer {
  /** Sends a mail; every failure is an outcome, not an error. */
  send(mail: Mail, signal: AbortSignal): Promise<MailResult>;
}

export interface SmtpOptions {
  server: MailServer;
  from: MailFrom;
  clock: Clock;
}

/** The limit from the connection to the last answer. */
const MAIL_MS = 30_000;
const ANSWER_MS = 20_000;
const LONGEST_ANSWER = 64 * 1_024;
/**
 * The name that this client sends to the mail server, which need not know the
 * name of this machine.
 */
const CLIENT_NAME = "seller-interface";

export class SmtpMailer implements Mailer {
  readonly #options: SmtpOptions;

  constructor(options: SmtpOptions) {
    this.#options = options;
  }

  async send(mail: Mail, signal: AbortSignal): Promise<MailResult> {
    const { server, from, clock } = this.#options;
    const { createTransport } = await import("nodemailer");
    const domain = from.address.slice(from.address.lastIndexOf("@") + 1);
    const socket = connect({ host: server.host, port: server.port });
    const connected = connectionOf(socket);
    connected.catch(() => {});
    const transport = createTransport({
      ...tlsOptions(server),
      // Nodemailer's own look-up prefers DNS to the hosts file.
      getSocket: (_, done) =>
        connected.then((connection) => done(null, { connection }), done),
      host: server.host,
      name: CLIENT_NAME,
      auth: authOf(server),
      forceAuth: server.login !== null,
      greetingTimeout: ANSWER_MS,
      socketTimeout: ANSWER_MS,
      maxResponseSize: LONGEST_ANSWER,
      socketCloseTimeout: 0,
    });
    let hasSentData = false;
    // The stream is read once the server has asked for the data.
    transport.use("stream", (mail, done) => {
      mail.message.processFunc((message) =>
        Readable.from((async function* () {
          hasSentData = true;
          yield* message;
        })())
      );
      done();
    });
    const late = new AbortController();
    const cancel = clock.after(MAIL_MS, () => late.abort());
    try {
      await transport.sendMail({
        from,
        to: mail.to,
        subject: mail.subject,
        text: mail.text,
        date: new Date(mail.date),
        messageId: `<${mail.id}@${domain}>`,
        headers: { "Auto-Submitted": "auto-generated", ...mail.headers },
        disableFileAccess: true,
        disableUrlAccess: true,
        envelope: { from: from.address, to: mail.to },
        signal: AbortSignal.any([signal, late.signal]),
      });
      return { outcome: "sent", reason: "" };
    } catch (error) {
      return mailResultOf(error, hasSentData);
    } finally {
      cancel();
      socket.destroy();
    }
  }
}

/** The socket once it is connected. */
function connectionOf(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.once("connect", () => resolve(socket));
  });
}

function authOf({ login }: MailServer) {
  return login === null
    ? undefined
    : { user: login.user, pass: login.password };
}

/** A password is sent only over TLS, or to this machine. */
function tlsOptions({ host, secure, login }: MailServer) {
  const isLocal = isLoopback(host);
  return {
    secure,
    requireTLS: !secure && login !== null && !isLocal,
    // A certificate of a server on this machine need not be verified.
    tls: { rejectUnauthorized: !isLocal },
  };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" ||
    (isIPv4(host) && host.startsWith("127."));
}

interface SmtpError {
  code?: string;
  /** The code of the server's answer. */
  responseCode?: number;
  /** The command that the server answered. */
  command?: string;
}

/**
 * The outcome for an error. The server's text is left out, because it may
 * repeat the address.
 */
function mailResultOf(error: unknown, hasSentData: boolean): MailResult {
  const { code, responseCode, command } = error as SmtpError;
  const reason = responseCode === undefined
    ? code === "EABORT" ? "timeout" : `${code}`
    : `${responseCode} to ${command}`;
  if (responseCode === undefined) {
    return { outcome: hasSentData ? "unsure" : "away", reason };
  }
  const isAboutMail = command === "RCPT TO" || command === "DATA";
  if (!isAboutMail || responseCode === 421) return { outcome: "away", reason };
  return { outcome: responseCode < 500 ? "later" : "refused", reason };
}
