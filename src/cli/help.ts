/** The text of `--help`. */
import { SETTINGS } from "../config.ts";
import type { Command } from "./command.ts";

export const PROGRAM = "seller-interface";

function commandWords(command: Command): string {
  const values = command.arguments.map(({ name, optional }) =>
    optional ? `[${name}]` : name
  );
  return [command.name, ...values].join(" ");
}

/** The command with its arguments and its required flags. */
export function synopsis(command: Command): string {
  const required = command.flags.filter((flag) => flag.required)
    .map(({ name, placeholder }) => `--${name} ${placeholder}`);
  return [commandWords(command), ...required].join(" ");
}

/** The flags of one command, or a list of several. */
export function help(commands: readonly Command[]): string {
  return commands.length === 1
    ? commandHelp(commands[0])
    : commandList(commands);
}

function commandHelp(command: Command): string {
  const flags = command.flags.map(({ name, placeholder, meaning }) => [
    placeholder === undefined ? `--${name}` : `--${name} ${placeholder}`,
    meaning + settingOf(name),
  ]);
  return [
    `${PROGRAM} ${synopsis(command)} [flags]`,
    `  ${command.summary}`,
    "",
    "Flags:",
    ...columns([...flags, ["--help", "show this"], [
      "--version",
      "show the version",
    ]]),
  ].join("\n");
}

function settingOf(flagName: string): string {
  const setting = Object.values(SETTINGS)
    .find(({ flag }) => flag === flagName);
  if (setting === undefined) return "";
  return ` (${setting.variable}; default ${setting.fallback || "none"})`;
}

function commandList(commands: readonly Command[]): string {
  return [
    `${PROGRAM} COMMAND [arguments] [flags]`,
    "",
    "Commands:",
    ...columns(commands.map((command) => [
      commandWords(command),
      command.summary,
    ])),
    "",
    "Settings from the environment; a flag overrides its variable:",
    ...columns(
      Object.values(SETTINGS).map(({ variable, meaning, fallback }) => [
        variable,
        `${meaning} (default ${fallback || "none"})`,
      ]),
    ),
    "",
    `\`${PROGRAM} help COMMAND\` shows the flags of a command.`,
    "Exit codes: 0 done, 1 failed, 2 a mistake in settings or arguments.",
  ].join("\n");
}

/** Formats rows of two cells as indented lines, and aligns the second cells. */
function columns(rows: readonly (readonly string[])[]): string[] {
  // bounded: rows of a help text
  const width = Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`);
}
