/// <reference lib="deno.unstable" />
/**
 * Regular expressions of the source meet what strangers send, and one that
 * backtracks can stop a thread for good. So each of them is judged by recheck.
 *
 * That takes a minute for all, so those that were found linear are listed in
 * `regular_expressions/linear.txt`, and only others are judged. To list those,
 * too: `deno test -A tests/regular_expressions_test.ts -- --update`.
 */
import { assertEquals } from "@std/assert";

const SOURCE = new URL("../src/", import.meta.url);
const CHECKER = new URL("./regular_expressions/", import.meta.url);
const LINEAR = new URL("linear.txt", CHECKER);

/**
 * Reads a JSON list of `{ pattern, flags }`; prints one of what is wrong with
 * each, null if it takes linear time. A program of its own, because the checker
 * is set up apart from the project: only this test needs it.
 */
const CHECK = `
  import recheck from "recheck";
  const list = await new Response(Deno.stdin.readable).json();
  console.log(JSON.stringify(list.map(({ pattern, flags }) => {
    const { status, complexity, attack, error } =
      recheck.checkSync(pattern, flags, { timeout: 60_000 });
    if (status === "safe") return null;
    if (status === "unknown") return "not judged: " + error.kind;
    return complexity.type + ", as for " + attack.pattern;
  })));
`;

/** Files that build one from constants, all of whose parts are known. */
const BUILT: Record<string, string> = {
  "http/images.ts": "digits of a fixed number and a closed list of types",
  "xml/reader.ts": "one class of characters, then another one repeated",
};

interface Found {
  file: string;
  /** As it is written, `/pattern/flags`; null where it is built. */
  literal: string | null;
}

const EXTRACT: Deno.lint.Plugin = {
  name: "regular-expressions",
  rules: {
    list: {
      create: (context) => {
        const built = (
          node: Deno.lint.CallExpression | Deno.lint.NewExpression,
        ) => {
          const { callee } = node;
          if (callee.type === "Identifier" && callee.name === "RegExp") {
            context.report({ node, message: "" });
          }
        };
        return {
          Literal(node) {
            if ("regex" in node && node.regex) {
              context.report({ node, message: node.raw });
            }
          },
          NewExpression: built,
          CallExpression: built,
        };
      },
    },
  },
};

/** Modules below a folder, as paths from `src/`. */
function* modules(folder = ""): Generator<string> {
  for (const { name, isFile } of Deno.readDirSync(new URL(folder, SOURCE))) {
    if (!isFile) {
      if (name !== "dist") yield* modules(`${folder}${name}/`);
    } else if (/\.tsx?$/.test(name) && !name.endsWith(".d.ts")) {
      yield folder + name;
    }
  }
}

function regularExpressions(): Found[] {
  return [...modules()].flatMap((file) => {
    const text = Deno.readTextFileSync(new URL(file, SOURCE));
    return Deno.lint.runPlugin(EXTRACT, file, text)
      .map(({ message }) => ({ file, literal: message || null }));
  });
}

/** What is wrong with each; null if it takes linear time. */
async function judge(literals: readonly string[]): Promise<(string | null)[]> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", CHECK],
    cwd: CHECKER,
    env: { RECHECK_SYNC_BACKEND: "pure" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const list = literals.map((literal) => {
    const end = literal.lastIndexOf("/");
    return { pattern: literal.slice(1, end), flags: literal.slice(end + 1) };
  });
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(JSON.stringify(list)));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

async function problems(literals: readonly string[]): Promise<string[]> {
  const found = await judge(literals);
  return literals.flatMap((literal, n) =>
    found[n] === null ? [] : [`${literal}: ${found[n]}`]
  );
}

Deno.test("every regular expression of the source takes linear time", async () => {
  const found = regularExpressions();
  const all = new Set(found.flatMap(({ literal }) => literal ?? []));
  const linear = new Set(Deno.readTextFileSync(LINEAR).split("\n"));
  const unknown = [...all].filter((literal) => !linear.has(literal));
  const wrong = unknown.length === 0 ? [] : await problems(unknown);
  assertEquals(wrong, []);
  if (Deno.args.includes("--update")) {
    Deno.writeTextFileSync(LINEAR, [...all].sort().join("\n") + "\n");
  }
});

Deno.test("a regular expression is written as one, where it can be judged", () => {
  const built = regularExpressions().filter(({ literal }) => literal === null)
    .map(({ file }) => file);
  assertEquals(built.filter((file) => !(file in BUILT)), []);
});

Deno.test("the judge finds what is slow, and leaves the rest", async () => {
  const slow = [
    String.raw`/^(?:<!--[^]*?-->\s*)*<svg/i`,
    String.raw`/\.+$/`,
  ];
  const wrong = await problems([...slow, "/^[a-z]+$/"]);
  assertEquals(wrong.map((line) => line.split(": ")[0]), slow);
});
