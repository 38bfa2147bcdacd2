/**
 * A proxy in front of a PostgreSQL server that counts round trips. It delays
 * all bytes, so that statements sent without waiting for an answer belong to
 * one round trip.
 */
const DELAY_MS = 15;

/** A transaction as the proxy saw it. */
export interface SeenTransaction {
  /**
   * The texts of statements that were sent and not yet prepared on the
   * connection.
   */
  sent: string;
  roundTrips: number;
  /** Groups of prepared statements; the server answers each group at once. */
  readonly groups: number;
}

/** Ends a group of prepared statements. */
const SYNC = "S\0\0\0\x04";
/** The name of a prepared BEGIN in the request to run it. */
const BEGIN = "\0begin ";

export class RoundTrips implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #connections: Deno.Conn[] = [];
  readonly seen: SeenTransaction[] = [];

  constructor(serverPort: number) {
    this.#accept(serverPort).catch(() => {});
  }

  /** The URL of a database behind the proxy. */
  urlOf(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.port = `${(this.#listener.addr as Deno.NetAddr).port}`;
    return url.href;
  }

  /** The last transaction in which these texts were sent. */
  find(...texts: string[]): SeenTransaction {
    const found = this.seen.findLast(({ sent }) =>
      texts.every((text) => sent.includes(text))
    );
    if (found === undefined) throw new Error(`nothing sent ${texts}`);
    return found;
  }

  async #accept(port: number): Promise<void> {
    for await (const client of this.#listener) {
      client.setNoDelay();
      const server = await Deno.connect({ hostname: "127.0.0.1", port });
      this.#connections.push(client, server);
      let current: SeenTransaction | null = null;
      let isAnswered = true;
      carry(client, server, {
        read: (bytes) => {
          const text = new TextDecoder().decode(bytes);
          if (text.includes(BEGIN)) {
            current = {
              sent: "",
              roundTrips: 0,
              get groups() {
                return this.sent.split(SYNC).length - 1;
              },
            };
            this.seen.push(current);
            isAnswered = true;
          }
          if (current === null) return;
          current.sent += text;
          if (isAnswered) current.roundTrips++;
          isAnswered = false;
        },
      });
      carry(server, client, { handOn: () => isAnswered = true });
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    this.#connections.forEach(close);
    return Promise.resolve();
  }
}

async function carry(
  from: Deno.Conn,
  to: Deno.Conn,
  { read, handOn }: {
    read?: (bytes: Uint8Array) => void;
    /** Called before bytes are forwarded, which is after the delay. */
    handOn?: () => void;
  },
): Promise<void> {
  let last = Promise.resolve();
  try {
    for await (const bytes of from.readable) {
      read?.(bytes);
      const delay = new Promise((done) => setTimeout(done, DELAY_MS));
      last = last.then(() => delay).then(async () => {
        handOn?.();
        for (let sent = 0; sent < bytes.length;) {
          sent += await to.write(bytes.subarray(sent));
        }
      }).catch(() => {});
    }
  } catch {
    // One side has disconnected.
  }
  await last;
  close(to);
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // The connection is already closed.
  }
}
