/** Parses a command line into a command, its arguments and flags. */
import { parseArgs } from "node:util";
import { nearestName } from "../lib/nearest_name.ts";
import type { Command, Flag } from "./command.ts";

export type Request =
  | { kind: "version" }
  /** The help of one command, of a group of commands, or of all commands. */
  | { kind: "help"; commands: readonly Command[] }
  | {
    kind: "mistakes";
    commands: readonly Command[];
    mistakes: string[];
    /**
     * The flags that could be parsed; the settings among them are checked as
     * well.
     */
    flags: Record<string, string | undefined>;
  }
  | {
    kind: "run";
    command: Command;
    arguments: string[];
    flags: Record<string, string | undefined>;
  };

type Token = NonNullable<ReturnType<typeof parseArgs>["tokens"]>[number];
type OptionToken = Extract<Token, { kind: "option" }>;

/**
 * Finds the command (the first of `commands` if the words name none) and checks
 * every word; reports all mistakes at once.
 */
export function parseCommandLine(
  words: readonly string[],
  commands: readonly Command[],
): Request {
  // `deno task cli -- seller list` passes the dashes as the first word.
  let normalized = words[0] === "--" ? words.slice(1) : words;
  if (normalized[0] === "help") normalized = ["--help", ...normalized.slice(1)];
  const { options, positionals } = split(normalized, commands);
  if (options.some(({ name }) => name === "version")) {
    return { kind: "version" };
  }
  const chosen = chooseCommand(positionals, commands);
  const isHelp = options.some(({ name }) => name === "help");
  if (isHelp && (chosen.command !== null || chosen.isGroup)) {
    return { kind: "help", commands: chosen.candidates };
  }
  if (chosen.command === null) {
    const mistakes = [chosen.mistake];
    const { candidates } = chosen;
    return { kind: "mistakes", commands: candidates, mistakes, flags: {} };
  }
  const command = chosen.command;
  const flags = readFlags(options, command);
  const values = positionals.slice(chosen.words);
  const mistakes = [
    ...flags.mistakes,
    // After an unknown flag, its value would also be reported as an argument.
    ...flags.unknown ? [] : checkArguments(values, command),
  ];
  if (mistakes.length > 0) {
    const known = flags.values;
    return { kind: "mistakes", commands: [command], mistakes, flags: known };
  }
  return { kind: "run", command, arguments: values, flags: flags.values };
}

function split(words: readonly string[], commands: readonly Command[]) {
  const known = commands.flatMap(({ flags }) => flags);
  const { tokens } = parseArgs({
    args: [...words],
    strict: false,
    tokens: true,
    options: {
      help: { type: "boolean", short: "h" },
      version: { type: "boolean" },
      ...Object.fromEntries(known.map((flag) => [flag.name, {
        type: flag.placeholder === undefined ? "boolean" : "string",
      }])),
    },
  });
  return {
    options: tokens.filter((token) => token.kind === "option"),
    positionals: tokens.flatMap((token) =>
      token.kind === "positional" ? [token.value] : []
    ),
  };
}

type Choice =
  & { candidates: readonly Command[] }
  & ({ command: Command; words: number } | {
    command: null;
    mistake: string;
    /** Whether only the second word is missing. */
    isGroup: boolean;
  });

function chooseCommand(
  [first, second]: string[],
  commands: readonly Command[],
): Choice {
  if (first === undefined) {
    return { command: commands[0], words: 0, candidates: commands };
  }
  for (
    const [name, words] of [[first, 1], [`${first} ${second}`, 2]] as const
  ) {
    const command = commands.find((each) => each.name === name);
    if (command !== undefined) {
      return { command, words, candidates: [command] };
    }
  }
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (group.length > 0) return withoutSubcommand(first, second, group);
  const ending = commands.find(({ name }) => name.endsWith(` ${first}`));
  const names = commands.map(({ name }) => name.split(" ")[0]);
  const nearest = ending?.name ?? nearestName(first, names);
  return {
    command: null,
    candidates: commands,
    mistake: `unknown command ${quoted(first)}; did you mean "${nearest}"?`,
    isGroup: false,
  };
}

function withoutSubcommand(
  first: string,
  second: string | undefined,
  group: readonly Command[],
): Choice {
  const names = group.map(({ name }) => name.slice(first.length + 1));
  const isGroup = second === undefined;
  const mistake = isGroup
    ? `"${first}" needs one of: ${names.join(", ")}.`
    : `unknown command ${quoted(`${first} ${second}`)}; did you mean ` +
      `"${first} ${nearestName(second, names)}"?`;
  return { command: null, candidates: group, mistake, isGroup };
}

function readFlags(options: readonly OptionToken[], command: Command) {
  const values: Record<string, string | undefined> = {};
  const mistakes: string[] = [];
  let unknown = false;
  for (const option of options) {
    const flag = command.flags.find(({ name }) => name === option.name);
    if (flag === undefined) {
      unknown = true;
      mistakes.push(unknownFlag(option, command));
    } else if (option.name in values) {
      mistakes.push(`--${flag.name}: given twice.`);
    } else {
      values[flag.name] = option.value ?? "";
      const mistake = valueMistake(option, flag);
      if (mistake !== null) mistakes.push(mistake);
    }
  }
  for (const flag of command.flags) {
    if (flag.required && !(flag.name in values)) {
      mistakes.push(`--${flag.name} ${flag.placeholder} is missing.`);
    }
  }
  return { values, mistakes, unknown };
}

function unknownFlag({ rawName }: OptionToken, { name, flags }: Command) {
  const names = [...flags.map((flag) => flag.name), "help", "version"];
  const nearest = nearestName(rawName.replace(/^-+/, ""), names);
  return `${rawName}: unknown flag of "${name}"; did you mean --${nearest}?`;
}

function valueMistake(option: OptionToken, flag: Flag): string | null {
  if (flag.placeholder === undefined) {
    return option.inlineValue ? `--${flag.name}: takes no value.` : null;
  }
  // In `--port --host x`, the value is missing; "--host" is not the value.
  const forgotten = !option.value ||
    (!option.inlineValue && option.value.startsWith("-"));
  return forgotten
    ? `--${flag.name}: needs a value, ${flag.placeholder}.`
    : null;
}

function checkArguments(values: string[], command: Command): string[] {
  const missing = command.arguments.slice(values.length)
    .filter(({ optional }) => !optional)
    .map(({ name }) => `${name} is missing.`);
  const surplus = values.slice(command.arguments.length)
    .map((value) => `${quoted(value)} is one argument too many.`);
  return [...missing, ...surplus];
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
