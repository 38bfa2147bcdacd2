/**
 * What the outbound client never dials; and a broken client stops the start.
 */
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { Outbound } from "../../src/net/outbound.ts";
import { runProgram, temporaryFolder } from "../support/process.ts";
import { holesOf, type OpenOutbound } from "./guard_trial.ts";

const NONE_ALLOWED: readonly string[] = [];

Deno.test("the guard refuses special addresses, even next to ones the operator allows", async () => {
  for (
    const allowed of [
      NONE_ALLOWED,
      ["127.0.0.0/8"],
      ["10.0.0.0/8", "fd00::/8", "::1/128"],
      ["0.0.0.0/0", "::/0"],
    ]
  ) assertEquals(await holesOf(allowed), []);
});

async function textOfHoles(open: OpenOutbound): Promise<string> {
  return (await holesOf(NONE_ALLOWED, open)).join("\n");
}

Deno.test("the guard's self-test detects that more is allowed than the operator allows", async () => {
  const open = (cidr: string): OpenOutbound => (options) =>
    new Outbound({ ...options, allowPrivate: [cidr] });
  assertStringIncludes(await textOfHoles(open("127.0.0.0/8")), "//2130706433/");
  assertStringIncludes(
    await textOfHoles(open("169.254.0.0/16")),
    "//0xa9fea9fe/",
  );
  assertStringIncludes(await textOfHoles(open("::/0")), "//[::1]/");
});

Deno.test("the guard's self-test detects that only the first address is checked", async () => {
  const holes = await textOfHoles((options) =>
    new Outbound({
      ...options,
      resolve: async (name) => (await options.resolve!(name)).slice(0, 1),
    })
  );
  assertMatch(holes, /two\.example\.com.*10\.0\.0\.1/);
  assert(!holes.includes("one.example.com"), holes);
});

Deno.test("the guard's self-test detects that an address is cached forever", async () => {
  const holes = await textOfHoles((options) =>
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

Deno.test("the guard's self-test detects that everything is refused", async () => {
  const holes = await textOfHoles((options) =>
    new Outbound({ ...options, resolve: () => Promise.resolve(["10.0.0.1"]) })
  );
  assertStringIncludes(holes, "a public address is not dialled");
});

Deno.test("a broken guard prevents the start: exit code 1, nothing is opened", async () => {
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
  assertMatch(stderr, /^error: the guard of outbound requests is broken/);
  await assertRejects(() => Deno.stat(data), Deno.errors.NotFound);
});
