import { assert, assertEquals } from "@std/assert";
import { planted, PLANTED_FAULTS } from "./planted_faults.ts";
import SEEDS from "./planted/seeds.json" with { type: "json" };

const SRC = new URL("../../src/", import.meta.url);

Deno.test("there are more than thirty planted faults, each with its own name", () => {
  const names = new Set(PLANTED_FAULTS.map(({ name }) => name));
  assertEquals(names.size, PLANTED_FAULTS.length);
  assert(names.size > 30);
});

Deno.test("only planted faults have stored seeds", () => {
  const names = new Set(PLANTED_FAULTS.map(({ name }) => name));
  for (const name of Object.keys(SEEDS)) assert(names.has(name), name);
  const soon = Object.values(SEEDS).filter((seed) => seed <= 300);
  assert(soon.length > 90, "few are found within 300 seeds");
});

Deno.test("the text of each planted fault occurs once in its file", async () => {
  for (const fault of PLANTED_FAULTS) {
    const text = await Deno.readTextFile(new URL(fault.file, SRC));
    const faulty = planted(fault, text);
    assert(faulty !== text, fault.name);
  }
});

Deno.test("the source with a planted fault can be parsed", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (const [i, fault] of PLANTED_FAULTS.entries()) {
      const text = await Deno.readTextFile(new URL(fault.file, SRC));
      await Deno.writeTextFile(
        `${folder}/${i}.ts`,
        planted(fault, text),
      );
    }
    // `deno fmt` parses what it formats.
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["fmt", "--no-config", folder],
    }).output();
    assert(success, new TextDecoder().decode(stderr));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
