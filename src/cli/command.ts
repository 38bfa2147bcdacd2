/** The type of commands. */
import type { Config } from "../config.ts";
import type { Deps } from "../deps.ts";

export interface Flag {
  /** The name without its dashes. */
  name: string;
  /** The placeholder in the help; a flag without one is a switch. */
  placeholder?: string;
  meaning: string;
  required?: boolean;
}

/** A line of a list. */
export function line(...cells: readonly unknown[]): string {
  return cells.join("  ");
}

/** A flag with a value. */
export function flag(
  name: string,
  placeholder: string,
  meaning: string,
  required = false,
): Flag {
  return { name, placeholder, meaning, required };
}

export interface Argument {
  /** The name in the help, in capitals. */
  name: string;
  optional?: boolean;
}

export interface Command {
  /** One word, or two if it belongs to a group: `seller add`. */
  name: string;
  summary: string;
  arguments: readonly Argument[];
  flags: readonly Flag[];
  /**
   * Whether it runs until a signal ends it, and never waits for the reader of
   * its lines.
   */
  isService?: true;
  /** Runs the command and prints its result; throws on failure. */
  run(context: CommandContext): Promise<void>;
}

export interface CommandContext {
  config: Config;
  deps: Deps;
  /** In the order of `Command.arguments`; an optional one may be missing. */
  arguments: readonly string[];
  /** By name without dashes; a switch that is given is "". */
  flags: Readonly<Record<string, string | undefined>>;
  print(line: string): void;
  printError(line: string): void;
}

/** The command line is invalid: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** The mistakes, one sentence each. */
  readonly mistakes: readonly string[];

  constructor(...mistakes: string[]) {
    super(mistakes.join("\n"));
    this.mistakes = mistakes;
  }
}
