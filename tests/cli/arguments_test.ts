import { assertEquals, assertStringIncludes } from "@std/assert";
import { parseCommandLine } from "../../src/cli/arguments.ts";
import { COMMANDS } from "../../src/cli/commands.ts";

function parse(line: string) {
  const words = line === "" ? [] : line.split(" ");
  const request = parseCommandLine(words, COMMANDS);
  return {
    kind: request.kind,
    command: request.kind === "run" ? request.command.name : null,
    arguments: request.kind === "run" ? request.arguments : null,
    flags: request.kind === "run" ? { ...request.flags } : null,
    mistakes: request.kind === "mistakes" ? request.mistakes : [],
    commands: "commands" in request
      ? request.commands.map(({ name }) => name)
      : [],
  };
}

Deno.test("serve is the default, with flags or without", () => {
  assertEquals(parse("").command, "serve");
  const { command, flags } = parse("--sandbox --port=0");
  assertEquals(command, "serve");
  assertEquals(flags, { sandbox: "", port: "0" });
});

Deno.test("flags may stand anywhere", () => {
  for (
    const line of [
      "--data /d seller add acme",
      "seller --data /d add acme",
      "seller add acme --data=/d",
      "-- seller add acme --data /d",
    ]
  ) {
    const { command, arguments: values, flags } = parse(line);
    assertEquals(command, "seller add", line);
    assertEquals(values, ["acme"], line);
    assertEquals(flags, { data: "/d" }, line);
  }
});

Deno.test("every word after -- is an argument", () => {
  assertEquals(parse("seller add -- -acme").arguments, ["-acme"]);
});

const MISTAKES: readonly (readonly [string, readonly string[]])[] = [
  ["sreve", ['unknown command "sreve"; did you mean "serve"?']],
  ["seler add x", ['unknown command "seler"; did you mean "seller"?']],
  ["help backu", ['unknown command "backu"; did you mean "backup"?']],
  ["seller lis --help", [
    'unknown command "seller lis"; did you mean "seller list"?',
  ]],
  ["refusals acme", [
    'unknown command "refusals"; did you mean "seller refusals"?',
  ]],
  ["seller ad x", ['unknown command "seller ad"; did you mean "seller add"?']],
  ["seller", ['"seller" needs one of: add, list, set, remove, refusals.']],
  ["seller add", ["NAME is missing."]],
  ["seller add a b", ['"b" is one argument too many.']],
  ["serve --prot 80", [
    '--prot: unknown flag of "serve"; did you mean --port?',
  ]],
  ["serve -p 80", ['-p: unknown flag of "serve"; did you mean --port?']],
  ["key list --port 80", [
    '--port: unknown flag of "key list"; did you mean --data?',
  ]],
  ["serve --port", ["--port: needs a value, PORT."]],
  ["serve --port=", ["--port: needs a value, PORT."]],
  ["serve --port --sandbox", ["--port: needs a value, PORT."]],
  ["serve --port 1 --port 2", ["--port: given twice."]],
  ["serve --sandbox=yes", ["--sandbox: takes no value."]],
  ["key add --data= --nope", [
    "--data: needs a value, FOLDER.",
    '--nope: unknown flag of "key add"; did you mean --scopes?',
  ]],
];

for (const [line, mistakes] of MISTAKES) {
  Deno.test(`"${line}" is refused`, () => {
    const parsed = parse(line);
    assertEquals(parsed.kind, "mistakes");
    assertEquals(parsed.mistakes, mistakes);
  });
}

Deno.test("every command has help, and every group has a list", () => {
  for (const { name } of COMMANDS) {
    const { kind, commands } = parse(`${name} --help`);
    assertEquals(kind, "help");
    assertEquals(commands, [name]);
  }
  assertEquals(parse("key --help").commands.includes("key revoke"), true);
});

Deno.test("--help wins over mistakes, --version over all", () => {
  assertEquals(parse("seller add --help").kind, "help");
  assertEquals(parse("seller add --version").kind, "version");
  assertEquals(parse("-h").kind, "help");
});

Deno.test("--help without a command shows all of them", () => {
  assertEquals(parse("--help").commands, COMMANDS.map(({ name }) => name));
});

Deno.test("help is --help as a word", () => {
  for (const words of ["", "key", "seller set", "serve --sandbox"]) {
    assertEquals(
      parse(`help ${words}`.trim()),
      parse(`${words} --help`.trim()),
    );
  }
  assertEquals(parse("help seller set").commands, ["seller set"]);
  assertEquals(parse("-- help seller set").commands, ["seller set"]);
});

Deno.test("no two commands share a name, no command repeats a flag", () => {
  const names = COMMANDS.map(({ name }) => name);
  assertEquals(new Set(names).size, names.length);
  for (const { name, flags } of COMMANDS) {
    const flagNames = flags.map((flag) => flag.name);
    assertEquals(new Set(flagNames).size, flagNames.length, name);
  }
});

Deno.test("a flag takes a value in every command or in none", () => {
  const kinds = new Map<string, boolean>();
  for (const flag of COMMANDS.flatMap(({ flags }) => flags)) {
    const takesValue = flag.placeholder !== undefined;
    assertEquals(kinds.get(flag.name) ?? takesValue, takesValue, flag.name);
    kinds.set(flag.name, takesValue);
  }
});

Deno.test("the error of a refused command line names the valid words", () => {
  assertStringIncludes(parse("kei add acme").mistakes[0], '"key"');
});
