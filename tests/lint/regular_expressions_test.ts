/// <reference lib="deno.unstable" />
/**
 * The regular expressions of the source read texts from strangers, and one that
 * backtracks can block a thread for ever. So recheck checks each of them.
 *
 * That takes seconds for one, and a minute for all. So `deno lint` only looks
 * them up in `regular_expressions/linear.txt`, and this test checks new ones
 * and adds them: `deno test -A tests/lint/regular_expressions_test.ts --
 * --update`.
 */
import { assertEquals } from "@std/assert";
import { reportedInSource } from "../support/source.ts";

const CHECKER = new URL("./regular_expressions/", import.meta.url);
const LINEAR = new URL("linear.txt", CHECKER);

/**
 * Reads a JSON list of `{ pattern, flags }`; prints a list of what is wrong
 * with each, null if it takes linear time. A separate program, because the
 * checker is installed apart from the project: only this test needs it.
 */
const CHECK = `
  import recheck from "recheck";
  const list = await new Response(Deno.stdin.readable).json();
  console.log(JSON.stringify(list.map(({ pattern, flags }) => {
    const { status, complexity, attack, error } =
      recheck.checkSync(pattern, flags, { timeout: 60_000 });
    if (status === "safe") return null;
    if (status === "unknown") return "not checked: " + error.kind;
    return complexity.type + ", as for " + attack.pattern;
  })));
`;

/** Reports each literal, with its text as the message. */
const LITERALS: Deno.lint.Plugin = {
  name: "regular-expressions",
  rules: {
    literals: {
      create: (context) => ({
        Literal(node) {
          if ("regex" in node && node.regex) {
            context.report({ node, message: node.raw });
          }
        },
      }),
    },
  },
};

/** As they are written: `/pattern/flags`. */
function regularExpressions(): Set<string> {
  return new Set(reportedInSource(LITERALS).map(({ message }) => message));
}

/** What is wrong with each; null if it takes linear time. */
async function check(literals: readonly string[]): Promise<(string | null)[]> {
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

/** What is wrong with those that may take longer. */
async function problems(literals: readonly string[]): Promise<string[]> {
  const found = await check(literals);
  return literals.flatMap((literal, n) =>
    found[n] === null ? [] : [`${literal}: ${found[n]}`]
  );
}

if (Deno.args.includes("--update")) {
  Deno.test("every regular expression of the source takes linear time", async () => {
    const all = regularExpressions();
    const linear = new Set(Deno.readTextFileSync(LINEAR).split("\n"));
    const unknown = [...all].filter((literal) => !linear.has(literal));
    const wrong = unknown.length === 0 ? [] : await problems(unknown);
    assertEquals(wrong, []);
    Deno.writeTextFileSync(LINEAR, [...all].sort().join("\n") + "\n");
  });
}

Deno.test("the check finds slow regular expressions and no others", async () => {
  const slow = ["/^(?:a|a)*$/", "/(?:x+x+)+y/i", String.raw`/\.+$/`];
  const wrong = await problems([...slow, "/^[a-z]+$/"]);
  assertEquals(wrong.map((line) => line.split(": ")[0]), slow);
});
