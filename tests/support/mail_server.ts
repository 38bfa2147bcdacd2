/**
 * A real mail server on 127.0.0.1 that answers as the test decides and records
 * mail.
 */
import { SMTPServer } from "smtp-server";

/** A mail that the server accepted. */
export interface Received {
  to: string;
  /** Whether the mail came over TLS. */
  secure: boolean;
  /** The user who logged in; null without a login. */
  user: string | null;
  headers: ReadonlyMap<string, string>;
  /** The decoded text. */
  text: string;
  raw: string;
}

export interface MailServerOptions {
  /**
   * The only password that it accepts; null: it neither accepts nor needs one.
   */
  password?: string | null;
  /** STARTTLS, TLS from the first byte, or neither. */
  tls?: "starttls" | "always" | "none";
  port?: number;
  /**
   * Answers a recipient, for example with `[451, "later"]`; null accepts it.
   */
  onRecipient?: (address: string, count: number) => SmtpAnswer;
  /** Answers the data. */
  onData?: (received: Received, count: number) => SmtpAnswer;
}

type Answer = readonly [code: number, text: string] | null;
type SmtpAnswer = Answer | Promise<Answer>;

export class MailServer implements AsyncDisposable {
  readonly received: Received[] = [];
  /** Passwords that clients sent, and whether over TLS. */
  readonly logins: { password: string; secure: boolean }[] = [];
  readonly #server: SMTPServer;
  readonly #sockets = new Set<{ destroy(): void }>();
  #recipients = 0;
  #mails = 0;

  private constructor(options: MailServerOptions) {
    const { password = null, tls = "starttls" } = options;
    this.#server = new SMTPServer({
      secure: tls === "always",
      hideSTARTTLS: tls === "none",
      authOptional: password === null,
      allowInsecureAuth: true,
      logger: false,
      closeTimeout: 0,
      onConnect: (_, done) => done(),
      onAuth: (auth, session, done) => {
        const secure = session.secure;
        this.logins.push({ password: auth.password ?? "", secure });
        if (auth.password === password) done(null, { user: auth.username });
        else done(new Error("no such user"));
      },
      onRcptTo: ({ address }, _, done) => {
        const answer = options.onRecipient?.(address, ++this.#recipients);
        settle(answer, done);
      },
      onData: (stream, session, done) => {
        let raw = "";
        stream.on("data", (chunk) => raw += chunk);
        stream.on("end", () => {
          const [{ address: to }] = session.envelope.rcptTo;
          const user = session.user === undefined ? null : `${session.user}`;
          const received = { to, secure: session.secure, user, ...parsed(raw) };
          settle(options.onData?.(received, ++this.#mails), (error) => {
            if (!error) this.received.push(received);
            done(error);
          });
        });
      },
    });
    // Clients that disconnect before the end.
    this.#server.on("error", () => {});
    this.#server.server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  static async start(options: MailServerOptions = {}): Promise<MailServer> {
    const server = new MailServer(options);
    await new Promise<void>((done) =>
      server.#server.listen(options.port ?? 0, "127.0.0.1", () => done())
    );
    return server;
  }

  get port(): number {
    const address = this.#server.server.address();
    return (address as { port: number }).port;
  }

  /** Breaks all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((done) =>
      this.#server.close(() => done())
    );
    this.cut();
    await closed;
  }
}

function settle(
  answer: SmtpAnswer | undefined,
  done: (error?: Error | null) => void,
): void {
  Promise.resolve(answer ?? null).then((answer) => {
    if (answer === null) return done();
    const [responseCode, text] = answer;
    done(Object.assign(new Error(text), { responseCode }));
  });
}

/** The headers by lower-case name, and the text. */
function parsed(raw: string): Pick<Received, "headers" | "text" | "raw"> {
  const end = raw.indexOf("\r\n\r\n");
  const lines = raw.slice(0, end).replace(/\r\n[ \t]+/g, " ").split("\r\n");
  const headers = new Map(lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  }));
  const body = raw.slice(end + 4);
  const isQuoted =
    headers.get("content-transfer-encoding") === "quoted-printable";
  return { headers, text: isQuoted ? unquoted(body) : body, raw };
}

function unquoted(text: string): string {
  const bytes = text.replace(/=\r\n/g, "").replace(
    /=([0-9A-F]{2})/g,
    (_, hex) => String.fromCharCode(parseInt(hex, 16)),
  );
  const decoded = Uint8Array.from(bytes, (char) => char.charCodeAt(0));
  return new TextDecoder().decode(decoded);
}
