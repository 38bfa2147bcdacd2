/** The trial of the guard at every start, and that a broken one stops it. */
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  GuardError,
  type OpenOutbound,
  tryGuard,
} from "../../src/net/guard.ts";
import { Outbound } from "../../src/net/outbound.ts";
import { runProgram, temporaryFolder } from "../support/process.ts";

Deno.test("the guard refuses special addresses, also beside what the operator allows", async () => {
  await tryGuard([]);
  await tryGuard(["127.0.0.0/8"]);
  await tryGuard(["10.0.0.0/8", "fd00::/8", "::1/128"]);
  await tryGuard(["0.0.0.0/0", "::/0"]);
});

async function holesOf(
  open: OpenOutbound,
  allowed: string[] = [],
): Promise<string> {
  const error = await assertRejects(() => tryGuard(allowed, open), GuardError);
  return error.holes.join("\n");
}

Deno.test("the guard's self-test finds that more is allowed than the operator allows", async () => {
  const open = (cidr: string): OpenOutbound => (options) =>
    new Outbound({ ...options, allowPrivate: [cidr] });
  assertStringIncludes(await holesOf(open("127.0.0.0/8")), "//2130706433/");
  assertStringIncludes(await holesOf(open("169.254.0.0/16")), "//0xa9fea9fe/");
  assertStringIncludes(await holesOf(open("::/0")), "//[::1]/");
});

Deno.test("the guard's self-test finds that only the first address is checked", async () => {
  const holes = await holesOf((options) =>
    new Outbound({
      ...options,
      resolve: async (name) => (await options.resolve!(name)).slice(0, 1),
    })
  );
  assertMatch(holes, /two\.example\.com.*10\.0\.0\.1/);
  assert(!holes.includes("one.example.com"), holes);
});

Deno.test("the guard's self-test finds that an address is kept for ever", async () => {
  const holes = await holesOf((options) =>
    new Outbound({
      ...options,
      clock: { now: () => 0, monotonic: () => 0, after: () => () => {} },
    })
  );
  assertMatch(
    holes,
    /rebound\.example\.com.*the outcome was "refused"|dialled/,
  );
});

Deno.test("the guard's self-test finds that everything is refused", async () => {
  const holes = await holesOf((options) =>
    new Outbound({ ...options, resolve: () => Promise.resolve(["10.0.0.1"]) })
  );
  assertStringIncludes(holes, "a public address is not dialled");
});

Deno.test("a broken guard stops the start: exit code 1, nothing opened", async () => {
  await using folder = await temporaryFolder();
  const sabotage = `${folder.path}/sabotage.ts`;
  await Deno.writeTextFile(
    sabotage,
    'import { BlockList } from "node:net";\n' +
      "BlockList.prototype.check = () => false;\n",
  );
  const data = `${folder.path}/data`;
  const { code, stdout, stderr } = await runProgram(
    ["serve", "--port=0", `--data=${data}`],
    { preload: sabotage },
  );
  assertEquals([code, stdout], [1, ""]);
  assertMatch(stderr, /^error: the guard of outbound requests does not hold/);
  await assertRejects(() => Deno.stat(data), Deno.errors.NotFound);
});
