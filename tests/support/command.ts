/** Runs commands of the command line in this process. */
import { parseCommandLine } from "../../src/cli/arguments.ts";
import { UsageError } from "../../src/cli/command.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { withDates } from "../../src/cli/flags.ts";
import type { Config } from "../../src/config.ts";
import type { Deps } from "../../src/deps.ts";

/**
 * Returns the lines that the command prints. Throws its errors, and a
 * `UsageError`.
 */
export async function runCommand(
  { config, deps, printError = () => {} }: {
    config: Config;
    deps: Deps;
    printError?: (line: string) => void;
  },
  ...words: string[]
): Promise<string[]> {
  const request = parseCommandLine(words, COMMANDS);
  if (request.kind === "mistakes") throw new UsageError(...request.mistakes);
  if (request.kind !== "run") throw new Error(request.kind);
  const lines: string[] = [];
  await request.command.run({
    config,
    deps,
    arguments: request.arguments,
    flags: withDates(request.command, request.flags, deps.clock.now()),
    print: (line) => lines.push(line),
    printError,
  });
  return lines;
}
