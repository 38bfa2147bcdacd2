/**
 * Queries the health of a running service, for the health checks of containers.
 */
import type { Config } from "../config.ts";
import { pause } from "../lib/waits.ts";
import { type Command, UsageError } from "./command.ts";
import { allSettingFlags } from "./flags.ts";

const ANSWER_MS = 3_000;
/** How long a service that has just started may take until it is ready. */
const START_MS = 10_000;
const PAUSE_MS = 200;
/** Characters of an answer that tell whose it is. */
const BEGINNING = 1_024;

export const healthCommand: Command = {
  name: "health",
  summary: "ask the service of these settings whether it lives",
  arguments: [],
  flags: [
    {
      name: "ready",
      meaning: "whether it can do its work; waits for that up to 10 s",
    },
    ...allSettingFlags,
  ],
  async run({ config, deps: { clock }, flags, print }) {
    const address = addressOf(config);
    if (flags.ready === undefined) {
      await check(`${address}/healthz`);
      return print("alive");
    }
    const end = clock.now() + START_MS;
    while (true) {
      try {
        await check(`${address}/readyz`);
        return print("ready");
      } catch (error) {
        if (clock.now() >= end) throw error;
        await pause(clock, PAUSE_MS);
      }
    }
  },
};

/** Throws unless this service answers 200. */
async function check(url: string): Promise<void> {
  const { status, isOurs } = await answerOf(url);
  if (!isOurs) {
    throw new Error(
      `${url} answered ${status}, but not as this service does: another ` +
        "program seems to answer at this address. Compare --host and --port " +
        "(SELLER_HOST, SELLER_PORT) with those of the service.",
    );
  }
  if (status !== 200) throw new Error(`${url} answered ${status}.`);
}

/** The address on which a process with these settings answers. */
function addressOf({ host, port, roles, metricsPort }: Config): string {
  if (!roles.includes("api")) {
    if (metricsPort !== null) return `http://127.0.0.1:${metricsPort}`;
    throw new UsageError(
      "A process without the role api answers on SELLER_METRICS_PORT alone; " +
        "set it.",
    );
  }
  const name = host === "::"
    ? "[::1]"
    : host.includes(":")
    ? `[${host}]`
    : host;
  return `http://${name}:${port}`;
}

async function answerOf(
  url: string,
): Promise<{ status: number; isOurs: boolean }> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await fetch(url, { signal });
    const isOurs = OURS.test(await beginningOf(answer));
    return { status: answer.status, isOurs };
  } catch (error) {
    throw new Error(`${url} gave no answer (${reason(error)}).`);
  }
}

/** How our answers begin. */
const OURS = /^<\?xml [^>]*\?><service>/;

/** Another program may send without an end. */
async function beginningOf({ body }: Response): Promise<string> {
  let text = "";
  for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (text.length > BEGINNING) break;
  }
  return text;
}

/** `fetch` says only that it failed; its cause repeats the URL, then says why. */
function reason(error: unknown): string {
  const { cause, message } = error as Error;
  if (!(cause instanceof Error)) return message;
  return cause.message.split("): ").at(-1)!;
}
