/** Runs the real program as a separate process. */
import "./built.ts";
import { inTime, pause } from "./clock.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** Has no address if the process does not serve the API. */
const STARTED = /^(?:listening on (\S+)|ready: .+)$/;

export interface Finished {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  /** Environment variables in addition to those that Deno needs. */
  env?: Record<string, string>;
  /** A module that runs before the program. */
  preload?: string;
  /**
   * The compiled program to run instead of the source; its environment is
   * `env`.
   */
  executable?: string;
  /** The limit of its file descriptors. */
  descriptors?: number;
  /** Its standard error is not read until this resolves. */
  errorsFrom?: Promise<void>;
}

/**
 * The options that every task passes to the program: permissions, settings of
 * V8.
 */
export async function programFlags(): Promise<string[]> {
  const words = await taskWords("program");
  return words.filter((word) => word.startsWith("--"));
}

/** The arguments of `deno compile` in its task, with the output at `output`. */
export async function compileArguments(output: string): Promise<string[]> {
  const words = (await taskWords("binary-file")).join(" ");
  const [, args] = /RUN=compile (.+?) --output \S+ deno task/.exec(words)!;
  const flags = await programFlags();
  return [...args.split(" "), ...flags, "--output", output, "main.ts"];
}

async function taskWords(task: string): Promise<string[]> {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  return tasks[task].command.replaceAll("'", "").split(" ");
}

async function command(
  args: readonly string[],
  { env = {}, preload, executable, descriptors }: RunOptions,
): Promise<Deno.Command> {
  const streams = {
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  } as const;
  if (executable !== undefined) {
    return new Deno.Command(executable, { args: [...args], env, ...streams });
  }
  const flags = await programFlags();
  const words = descriptors === undefined ? [Deno.execPath()] : [
    "sh",
    "-c",
    `ulimit -n ${descriptors}; exec "$@"`,
    "sh",
    Deno.execPath(),
  ];
  return new Deno.Command(words[0], {
    args: [
      ...words.slice(1),
      "run",
      ...flags,
      "--no-check",
      ...(preload === undefined ? [] : [`--preload=${preload}`]),
      `${ROOT}main.ts`,
      ...args,
    ],
    env: { ...inherited(), ...env },
    ...streams,
  });
}

function inherited(): Record<string, string> {
  const names = ["PATH", "HOME", "DENO_DIR", "XDG_CACHE_HOME", "TMPDIR"];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = Deno.env.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Runs the program to its end. */
export async function runProgram(
  args: readonly string[],
  options: RunOptions = {},
): Promise<Finished> {
  const { code, stdout, stderr } = await (await command(args, options))
    .output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: decode(stdout), stderr: decode(stderr) };
}

/** Starts the program; the test must end it. */
export async function startCommand(
  args: readonly string[],
  options: RunOptions = {},
): Promise<Deno.ChildProcess> {
  return (await command(args, options)).spawn();
}

/** A running service. */
export class Program implements AsyncDisposable {
  /** The URL of its API; empty if it does not serve one. */
  readonly url: string;
  readonly #child: Deno.ChildProcess;
  readonly #output: Output;
  readonly #errors: Output;

  constructor(
    url: string,
    child: Deno.ChildProcess,
    output: Output,
    errors: Output,
  ) {
    this.url = url;
    this.#child = child;
    this.#output = output;
    this.#errors = errors;
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Resolves with the first line of standard output that matches. */
  line(pattern: RegExp): Promise<string> {
    return inTime(this.#output.line(pattern), `a line ${pattern}`);
  }

  /** Like `line`, for standard error. */
  errorLine(pattern: RegExp): Promise<string> {
    return inTime(this.#errors.line(pattern), `a line ${pattern}`);
  }

  /** The exit code; does not wait for the output to be read. */
  get exitCode(): Promise<number> {
    return this.#child.status.then(({ code }) => code);
  }

  /** Lines of standard output so far. */
  get lines(): readonly string[] {
    return this.#output.lines;
  }

  kill(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  /** Asks the process to stop; returns how it ended. */
  async stop(signal: Deno.Signal = "SIGTERM"): Promise<Finished> {
    this.#child.kill(signal);
    return await this.ended();
  }

  async ended(): Promise<Finished> {
    const { code } = await this.#child.status;
    await Promise.all([this.#output.ended, this.#errors.ended]);
    const text = ({ lines }: Output) => lines.join("\n");
    return { code, stdout: text(this.#output), stderr: text(this.#errors) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // The process has already ended.
    }
    await this.ended();
  }
}

/** Starts the program and waits until it says that it is ready. */
export async function startProgram(
  args: readonly string[],
  options: RunOptions = {},
): Promise<Program> {
  const child = (await command(args, options)).spawn();
  const output = new Output(child.stdout);
  const errors = new Output(child.stderr, options.errorsFrom);
  try {
    const line = await output.line(STARTED);
    return new Program(STARTED.exec(line)![1] ?? "", child, output, errors);
  } catch {
    await Promise.all([child.status, errors.ended]);
    throw new Error(`the program did not start:\n${errors.lines.join("\n")}`);
  }
}

/** Starts the program and kills it after this many milliseconds. */
export async function killWhileStarting(
  args: readonly string[],
  ms: number,
  options: RunOptions = {},
): Promise<void> {
  const child = (await command(args, options)).spawn();
  const outputs = [new Output(child.stdout), new Output(child.stderr)];
  await pause(ms);
  child.kill("SIGKILL");
  await Promise.all([child.status, ...outputs.map(({ ended }) => ended)]);
}

/** Starts the program and kills it when it prints a matching line. */
export async function killAtLine(
  args: readonly string[],
  pattern: RegExp,
  options: RunOptions = {},
): Promise<void> {
  const child = (await command(args, options)).spawn();
  const [output, errors] = [new Output(child.stdout), new Output(child.stderr)];
  await output.line(pattern);
  child.kill("SIGKILL");
  await Promise.all([child.status, output.ended, errors.ended]);
}

/** The lines of a stream as they arrive. */
class Output {
  readonly lines: string[] = [];
  readonly ended: Promise<void>;
  #done = false;
  #look = Promise.withResolvers<void>();

  constructor(stream: ReadableStream<Uint8Array>, from?: Promise<void>) {
    this.ended = this.#read(stream, from);
  }

  async #read(
    stream: ReadableStream<Uint8Array>,
    from?: Promise<void>,
  ): Promise<void> {
    await from;
    let rest = "";
    const text = stream.pipeThrough(
      new TextDecoderStream() as TransformStream<Uint8Array, string>,
    );
    for await (const piece of text) {
      const lines = (rest + piece).split("\n");
      rest = lines.pop()!;
      this.lines.push(...lines);
      this.#wake();
    }
    if (rest !== "") this.lines.push(rest);
    this.#done = true;
    this.#wake();
  }

  #wake(): void {
    this.#look.resolve();
    this.#look = Promise.withResolvers<void>();
  }

  async line(pattern: RegExp): Promise<string> {
    while (true) {
      const found = this.lines.find((line) => pattern.test(line));
      if (found !== undefined) return found;
      if (this.#done) throw new Error(`no line matched ${pattern}`);
      await this.#look.promise;
    }
  }
}

/** `await using folder = await temporaryFolder()`. */
export async function temporaryFolder(): Promise<
  AsyncDisposable & { path: string }
> {
  const path = await Deno.makeTempDir({ prefix: "seller-test-" });
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

/** A free port of loopback. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return (listener.addr as Deno.NetAddr).port;
}

/**
 * Whether a program is on this machine; `args` make it print something and end.
 */
export function hasProgram(name: string, ...args: string[]): boolean {
  try {
    const { success } = new Deno.Command(name, {
      args,
      stdout: "null",
      stderr: "null",
    }).outputSync();
    return success;
  } catch {
    return false;
  }
}
