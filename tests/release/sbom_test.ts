import { assert, assertEquals } from "@std/assert";
import { billOfMaterials, packagesOf } from "./sbom.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

Deno.test("the bill of materials names what the program uses, and no tool of tests", async () => {
  const packages = await packagesOf(ROOT);
  const names = packages.map(({ name }) => name);
  // pgpass is a package that pg needs.
  for (const name of ["pg", "marked", "pgpass"]) assert(names.includes(name));
  for (const name of ["playwright-core", "preact", "axe-core"]) {
    assert(!names.includes(name), name);
  }
  const bill = JSON.parse(
    billOfMaterials({ name: "it", version: "1.0.0" }, packages, [
      { name: "deno", version: "2.9.6" },
    ]),
  );
  assertEquals(bill.bomFormat, "CycloneDX");
  assertEquals(bill.metadata.component.version, "1.0.0");
  assertEquals(bill.components.length, packages.length + 1);
});
