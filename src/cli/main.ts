/** The command line: runs a command and returns the exit code. */
import { sqliteVersion } from "../database/sqlite/version.ts";
import { COMMIT, VERSION } from "../version.ts";
import { parseCommandLine } from "./arguments.ts";
import { type Command, UsageError } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { dataFlag, withDates } from "./flags.ts";
import { help, PROGRAM } from "./help.ts";
import { LineOutput } from "./line_output.ts";
import { type Config, readConfig } from "../config.ts";
import { type Deps, systemClock, systemDeps } from "../deps.ts";
import { SandboxFolderError } from "../sandbox/sandbox.ts";
import { DbError } from "../database/db.ts";
import { ServiceError } from "../lib/errors.ts";
import { traceFields } from "../lib/tracing.ts";

const OK = 0;
/** A valid command failed. */
const FAILED = 1;
/** A mistake in the settings or arguments; nothing was started. */
const MISTAKE = 2;
/** The reader of the output has ended, as in `… | head`: 128 + SIGPIPE. */
const READER_GONE = 141;
/** How long an ending service waits for the reader of its last lines. */
const LAST_LINES_MS = 1_000;

/**
 * Runs a command. Returns the exit code: 0; 1 after one line on standard error
 * that says what failed; 2 after one line for each mistake; 141 if the reader
 * of the output has ended.
 */
export async function runCommandLine(
  words: readonly string[],
): Promise<number> {
  try {
    return await runWords(words);
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return READER_GONE;
    throw error;
  }
}

async function runWords(words: readonly string[]): Promise<number> {
  const request = parseCommandLine(words, COMMANDS);
  switch (request.kind) {
    case "version":
      print(
        `${PROGRAM} ${VERSION} (${COMMIT ?? "no release"}, ` +
          `Deno ${Deno.version.deno}, SQLite ${sqliteVersion()})`,
      );
      return OK;
    case "help":
      help(request.commands).split("\n").forEach(print);
      return OK;
    case "mistakes": {
      const settings = readConfig(request.flags).mistakes;
      const { commands } = request;
      const name = commands.length === 1 ? ` ${commands[0].name}` : "";
      const code = refuse([...request.mistakes, ...settings]);
      printError(`\`${PROGRAM}${name} --help\` shows what is accepted.`);
      return code;
    }
    case "run": {
      const { config, mistakes } = readConfig(request.flags);
      if (config === null) return refuse(mistakes);
      return await run(request, config);
    }
  }
}

async function run(
  { command, arguments: values, flags }: {
    command: Command;
    arguments: string[];
    flags: Record<string, string | undefined>;
  },
  config: Config,
): Promise<number> {
  await using output = command.isService ? serviceOutput(config) : {
    deps: systemDeps(config.logLevel, traceFields),
    print,
    printError,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const { deps } = output;
  try {
    const { print, printError } = output;
    const isElsewhere = config.databaseUrl !== null && !command.isService;
    if (isElsewhere && flags[dataFlag.name] !== undefined) {
      printError(
        "the database is that of SELLER_DATABASE_URL, not one in --data",
      );
    }
    const context = {
      config,
      deps,
      arguments: values,
      flags: withDates(command, flags, deps.clock.now()),
    };
    await command.run({ ...context, print, printError });
    return OK;
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) throw error;
    const mistakes = mistakesOf(error);
    if (mistakes !== null) return refuse(mistakes, output.printError);
    output.printError(`error: ${failure(error, config)}`);
    deps.log.debug("command_failed", {
      command: command.name,
      error: error instanceof Error ? error.stack : String(error),
    });
    return FAILED;
  }
}

/**
 * The output of a service. The service waits for the reader of its output only
 * when it ends.
 */
function serviceOutput({ logLevel }: Config) {
  const clock = systemClock;
  const output = new LineOutput({
    write: (bytes) => Deno.stdout.write(bytes),
    clock,
  });
  const errors = new LineOutput({
    write: (bytes) => Deno.stderr.write(bytes),
    clock,
    onLost: (lines, since) =>
      deps.log.error("log_lines_lost", { lines, since }),
  });
  const deps: Deps = {
    ...systemDeps(logLevel, traceFields, (line) => errors.write(line)),
    lostLogLines: () => errors.lost,
  };
  return {
    deps,
    print: (line: string) => output.write(shown(line)),
    printError: (line: string) => errors.write(shown(line)),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([output.end(LAST_LINES_MS), errors.end(LAST_LINES_MS)]);
    },
  };
}

/**
 * /** The mistakes of the command line that an error reports; null if the
 * command failed for another reason.
 */
export function mistakesOf(error: unknown): readonly string[] | null {
  if (error instanceof UsageError) return error.mistakes;
  if (error instanceof SandboxFolderError) return [error.message];
  if (!(error instanceof ServiceError) || error.status >= 500) return null;
  const details = error.details.map(({ message }) => message);
  return details.length > 0 ? details : [error.message];
}

function refuse(
  mistakes: readonly string[],
  print: (line: string) => void = printError,
): number {
  for (const mistake of mistakes) print(`error: ${mistake}`);
  return MISTAKE;
}

/** Says what failed and what helps, without internals. */
function failure(error: unknown, config: Config): string {
  const { host, port } = config;
  if (error instanceof DbError) return databaseFailure(error, config);
  if (error instanceof Deno.errors.AddrInUse) {
    return `port ${port} of ${host} is taken; stop the program that uses ` +
      "it, or choose another with --port or SELLER_PORT.";
  }
  if (error instanceof Deno.errors.AddrNotAvailable) {
    return `${host} is not an address of this machine; choose another with ` +
      "--host or SELLER_HOST.";
  }
  return error instanceof Error ? error.message : String(error);
}

function databaseFailure(
  { kind, message }: DbError,
  { dataDir, databaseUrl }: Config,
): string {
  const database = databaseUrl === null
    ? `the database in ${dataDir}`
    : "the database that SELLER_DATABASE_URL names";
  switch (kind) {
    case "missing":
      return databaseUrl === null
        ? `there is no database in ${dataDir}; name the folder of the ` +
          "service with --data or SELLER_DATA_DIR, or create the first seller with " +
          "`seller add NAME`."
        : `${database} cannot be used (${message}); create the first seller ` +
          "with `seller add NAME`.";
    case "away":
      return `${database} cannot be reached (${message}).`;
    case "busy":
      return `another process has locked ${database}; try again.`;
    case "full":
      return databaseUrl === null
        ? `the disk of ${dataDir} is full or failing (${message}).`
        : `the disk of ${database} is full or failing (${message}).`;
    case "readonly":
      return databaseUrl === null
        ? `this user cannot open or write ${database} (${message}).`
        : `its user cannot write ${database} (${message}).`;
    case "corrupt":
      return `${database} cannot be used (${message}).`;
    default:
      return message;
  }
}

function print(line: string): void {
  write(Deno.stdout, line);
}

function printError(line: string): void {
  write(Deno.stderr, line);
}

/**
 * Characters that control a terminal or change the direction of text. Lines may
 * contain values that sellers sent.
 */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

function shown(line: string): string {
  return line.replace(
    CONTROLS,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Writes everything: a pipe may accept less at once. */
function write(output: typeof Deno.stdout, line: string): void {
  let bytes = new TextEncoder().encode(`${shown(line)}\n`);
  while (bytes.length > 0) bytes = bytes.subarray(output.writeSync(bytes));
}
