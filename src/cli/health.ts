/**
 * Queries the health of a running service, for the health checks of containers.
 */
import type { Config } from "../config.ts";
import { KEY_HEADER } from "../http/admission/authentication.ts";
import { unescaped } from "../lib/markup.ts";
import { pause } from "../lib/waits.ts";
import { type Command, UsageError } from "./command.ts";
import { allSettingFlags } from "./flags.ts";

const ANSWER_MS = 3_000;
/** How long a service that has just started may take to become ready. */
const START_MS = 10_000;
const PAUSE_MS = 200;
/**
 * How many characters of an answer are read: enough to recognise this service
 * and its failed checks.
 */
const READ_CHARACTERS = 4_096;

export const healthCommand: Command = {
  name: "health",
  summary: "check whether the service with these settings is running",
  arguments: [],
  flags: [
    {
      name: "ready",
      meaning: "check whether it is ready to work; waits up to 10 s",
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
        if (clock.now() >= end) {
          throw await withFailedChecks(error, address, config);
        }
        await pause(clock, PAUSE_MS);
      }
    }
  },
};

/** The service answered, but not with 200. */
class Unhealthy extends Error {}

/** Throws unless this service answers 200. */
async function check(url: string): Promise<void> {
  const { status, text } = await answerOf(url);
  if (!OURS.test(text)) {
    throw new Error(
      `${url} answered ${status}, but not as this service answers: another ` +
        "program seems to use this address. Compare --host and --port " +
        "(SELLER_HOST, SELLER_PORT) with the settings of the service.",
    );
  }
  if (status !== 200) throw new Unhealthy(`${url} answered ${status}.`);
}

/**
 * Adds the failed checks to the error. Only the last request sends the key,
 * because each request with a wrong key counts as an authentication failure.
 */
async function withFailedChecks(
  error: unknown,
  address: string,
  { operatorKey }: Config,
): Promise<unknown> {
  if (!(error instanceof Unhealthy)) return error;
  const text = operatorKey === null
    ? ""
    : (await answerOf(`${address}/readyz`, operatorKey)).text;
  const failed = [...text.matchAll(FAILED)]
    .map(([, name, why]) => `${name} (${unescaped(why)})`);
  return new Error(
    failed.length === 0
      ? `${error.message} The line not_ready in its log says why; so ` +
        "does this command if SELLER_OPERATOR_KEY is set."
      : `${error.message} Failed: ${failed.join(", ")}.`,
  );
}

/** A failed check in an answer of `/readyz` to an operator. */
const FAILED = /<(\w+)>failed: ([^<]*)<\//g;

/** The address on which a process with these settings listens. */
function addressOf({ host, port, roles, metricsPort }: Config): string {
  if (!roles.includes("api")) {
    if (metricsPort !== null) return `http://127.0.0.1:${metricsPort}`;
    throw new UsageError(
      "A process without the role api answers only on " +
        "SELLER_METRICS_PORT; set it.",
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
  key?: string,
): Promise<{ status: number; text: string }> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const headers = key === undefined ? undefined : { [KEY_HEADER]: key };
    const answer = await fetch(url, { signal, headers });
    return { status: answer.status, text: await beginningOf(answer) };
  } catch (error) {
    throw new Error(`${url} gave no answer (${reason(error)}).`);
  }
}

/** The beginning of this service's answers. */
const OURS = /^<\?xml [^>]*\?><service>/;

/** Reads only a part, because another program may send an endless answer. */
async function beginningOf({ body }: Response): Promise<string> {
  let text = "";
  for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (text.length > READ_CHARACTERS) break;
  }
  return text;
}

/**
 * `fetch` only says that it failed; its cause repeats the URL and then gives
 * the reason.
 */
function reason(error: unknown): string {
  const { cause, message } = error as Error;
  if (!(cause instanceof Error)) return message;
  return cause.message.split("): ").at(-1)!;
}
