/** Every promise of the service is awaited, or explicitly not. */
import { assert, assertEquals } from "@std/assert";
import { floatingPromises } from "./floating_promises.ts";

const SOURCE = new URL("../../src/", import.meta.url).pathname;
/** The browser does not await the page's event handlers either. */
const LEFT_OUT = ["web", "docs"];

function modulesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = folder + name;
    if (isDirectory) {
      const isLeftOut = folder === SOURCE && LEFT_OUT.includes(name);
      return isLeftOut ? [] : modulesIn(`${path}/`);
    }
    return name.endsWith(".ts") ? [path] : [];
  });
}

Deno.test("a promise that nothing awaits is found, unless it is marked", async () => {
  const statements = [
    "f();",
    "new A().f();",
    "f().then(g);",
    "f().finally(g);",
    "b ? f() : null;",
    "await f();",
    "void f();",
    "f().catch(g);",
    "f().then(g, g);",
    "f().catch(g).finally(g);",
    "p ??= f();",
    "g();",
  ];
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(
      file,
      [
        ...statements,
        "declare let b: boolean, p: Promise<void>;",
        "declare class A { f(): Promise<void> }",
        "async function f() {}",
        "function g() {}",
      ].join("\n"),
    );
    assertEquals(
      floatingPromises([file]).get(file),
      statements.slice(0, 5).map((text, n) => `${n + 1}: ${text}`),
    );
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("each promise of the service is awaited or marked as not awaited", () => {
  const modules = modulesIn(SOURCE);
  assert(modules.length > 300);
  const found = [...floatingPromises(modules)].flatMap(([path, lines]) =>
    lines.map((line) => `${path.slice(SOURCE.length)}:${line}`)
  );
  assertEquals(found, []);
});
