import { assert, assertEquals } from "@std/assert";
import {
  hasWalResetBug,
  sqliteVersion,
} from "../../../src/database/sqlite/version.ts";

Deno.test("the version of this runtime's SQLite is reported and has no WAL-reset bug", () => {
  const version = sqliteVersion();
  assert(/^3\.\d+\.\d+$/.test(version), version);
  assertEquals(hasWalResetBug(version), false);
});

Deno.test("SQLite from 3.7.0 to 3.51.2 has the WAL-reset bug, except the repaired releases", () => {
  for (
    const [version, affected] of [
      ["3.6.23", false],
      ["3.7.0", true],
      ["3.44.5", true],
      ["3.44.6", false],
      ["3.45.0", true],
      ["3.45.7", true],
      ["3.50.6", true],
      ["3.50.7", false],
      ["3.51.0", true],
      ["3.51.2", true],
      ["3.51.3", false],
      ["3.52.0", false],
      ["3.53.2", false],
    ] as const
  ) {
    assertEquals(hasWalResetBug(version), affected, version);
  }
});
