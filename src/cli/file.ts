/** Prints one of the files for operators that the program contains. */
import { OPERATOR_FILES } from "../docs/files.ts";
import { nearestName } from "../lib/nearest_name.ts";
import { type Command, line, UsageError } from "./command.ts";

export const fileCommand: Command = {
  name: "file",
  summary: "print a file for operators; without NAME, list the files",
  arguments: [{ name: "NAME", optional: true }],
  flags: [],
  run({ arguments: [name], print }) {
    const lines = name === undefined
      ? OPERATOR_FILES.map(({ name, about }) => line(name, about))
      : fileText(name).trimEnd().split("\n");
    lines.forEach(print);
    return Promise.resolve();
  },
};

function fileText(name: string): string {
  const file = OPERATOR_FILES.find((file) => file.name === name);
  if (file !== undefined) return file.text;
  const names = OPERATOR_FILES.map(({ name }) => name);
  throw new UsageError(
    `there is no file ${JSON.stringify(name)}; did you mean ` +
      `"${nearestName(name, names)}"?`,
  );
}
