import { assert, assertEquals } from "@std/assert";
import {
  PackedResults,
  packResults,
} from "../../src/catalogue/packed_results.ts";
import type { TransactionResult } from "../../src/catalogue/transaction.ts";
import { systemIds } from "../../src/deps.ts";

const KINDS = ["created", "updated", "unchanged", "refused"] as const;

Deno.test("packed results unpack to what was packed", () => {
  const results = Array.from({ length: 250 }, (_, n): TransactionResult => ({
    id: n % 4 === 3 ? null : systemIds.uuid(),
    sku: `"Grün\u{1f600}/${n}`,
    result: KINDS[n % 4],
    images: n % 5 === 0 ? [n, n + 1, 2_499] : [],
  }));
  assertEquals(new PackedResults(packResults(results)).slice(), results);
  assertEquals(new PackedResults(packResults([])).slice(), []);
});

Deno.test("the storage format of results does not change", () => {
  const id = "019aaa00-1234-7abc-8def-0123456789ff";
  const results: TransactionResult[] = [
    { id, sku: "A-1", result: "created", images: [0, 1] },
    { id: null, sku: "A-2", result: "refused", images: [] },
  ];
  assertEquals(
    packResults(results),
    '["cAZqqABI0eryN7wEjRWeJ_wrAAAAAAAAAAAAAAAAAAAAAA",' +
      '["A-1","A-2"],{"0":[0,1]}]',
  );
});

Deno.test("the result of an unchanged product is no larger than the element that names it", () => {
  const results = Array.from({ length: 250 }, (_, n): TransactionResult => ({
    id: systemIds.uuid(),
    sku: `${n}`,
    result: "unchanged",
    images: [],
  }));
  const named = results.map(({ sku }) =>
    `<product><sku>${sku}</sku></product>`
  );
  assert(packResults(results).length < named.join("").length);
});
