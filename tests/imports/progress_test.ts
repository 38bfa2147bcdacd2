/** The progress of an import, in percent. */
import { assertEquals } from "@std/assert";
import { importProgress, type ImportRecord } from "../../src/imports/import.ts";

const BEGUN = {
  dry_run: 0,
  parts: 10,
  parts_checked: 0,
  parts_stored: 0,
  over_at: null,
  images: { pending: 0, stored: 0, reused: 0, failed: 0 },
};
const STORED = { ...BEGUN, parts_checked: 10, parts_stored: 10, over_at: 1 };

const STEPS: [what: string, record: Partial<ImportRecord>, progress: number][] =
  [
    ["an import without products", { ...BEGUN, parts: 0 }, 0],
    ["nothing is checked", BEGUN, 0],
    ["half of it is checked", { ...BEGUN, parts_checked: 5 }, 15],
    ["all of it is checked", { ...BEGUN, parts_checked: 10 }, 30],
    [
      "half of it is stored",
      { ...BEGUN, parts_checked: 10, parts_stored: 5 },
      55,
    ],
    [
      "no image has been fetched",
      { ...STORED, images: { ...BEGUN.images, pending: 4 } },
      80,
    ],
    [
      "half of the images are settled",
      { ...STORED, images: { pending: 2, stored: 1, reused: 0, failed: 1 } },
      90,
    ],
    ["it has no images", STORED, 100],
    [
      "half of a dry run is checked",
      { ...BEGUN, dry_run: 1, parts_checked: 5 },
      49,
    ],
    [
      "all of a dry run is checked",
      { ...BEGUN, dry_run: 1, parts_checked: 10 },
      99,
    ],
    ["a dry run is over", { ...STORED, dry_run: 1, parts_stored: 0 }, 100],
  ];

for (const [what, record, progress] of STEPS) {
  Deno.test(`progress of an import: ${progress} % if ${what}`, () => {
    assertEquals(importProgress(record as ImportRecord), progress);
  });
}
