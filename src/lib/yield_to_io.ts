/** Polls of the sockets to wait for; the second answers what the first read. */
const POLLS = 2;

/**
 * Lets small requests that have arrived meanwhile be read and answered.
 *
 * While anything is ready to run, Deno's event loop polls its sockets only once
 * in 61 turns (tokio's `event_interval`), which can be 61 pieces of work.
 * `setImmediate`, timers and calls to other threads may end without a poll; a
 * byte that this process sends to itself arrives only with one. Ten lanes of
 * work of 5 ms each delay others by 3 s with calls to another thread, by 60 ms
 * with this, which takes 0.1 ms.
 */
export function yieldToIo(): Promise<void> {
  return inProgress ??= yieldOnce().finally(() => inProgress = null);
}

/** Work that yields meanwhile waits for the same polls. */
let inProgress: Promise<void> | null = null;
let loopback: Promise<Loopback> | null = null;

async function yieldOnce(): Promise<void> {
  try {
    const { sender, receiver } = await (loopback ??= openLoopback());
    for (let poll = 0; poll < POLLS; poll++) {
      const received = receiver.read(new Uint8Array(2));
      await sender.write(BYTE);
      await received;
    }
  } catch {
    // Without a loopback interface. A poll is likely, but not certain.
    await crypto.subtle.digest("SHA-256", BYTE);
  }
}

const BYTE = new Uint8Array(1);

/** A connection of this process to itself; it stays open. */
interface Loopback {
  sender: Deno.TcpConn;
  receiver: Deno.Conn;
}

async function openLoopback(): Promise<Loopback> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { hostname, port } = listener.addr;
  const sender = await Deno.connect({ hostname, port });
  sender.setNoDelay(true);
  for (;;) {
    const receiver = await listener.accept();
    // Another process may have connected first.
    if (receiver.remoteAddr.port === sender.localAddr.port) {
      return { sender, receiver };
    }
    receiver.close();
  }
}
