import { assert, assertEquals } from "@std/assert";
import { chapter } from "../support/handbook.ts";
import { VERSION } from "../../src/version.ts";
import {
  differences,
  mayBreak,
  type Release,
  thisRelease,
} from "./contract.ts";

/** This release with some facts changed. */
function changed(change: (facts: string[]) => string[]): Release {
  const { version, facts } = thisRelease();
  return { version, facts: change([...facts]) };
}

const without = (fact: string) => {
  const { facts } = thisRelease();
  assert(facts.includes(fact), fact);
  return changed((facts) => facts.filter((one) => one !== fact));
};

Deno.test("equal releases have no differences", () => {
  assertEquals(differences(thisRelease(), thisRelease()), {
    added: [],
    removed: [],
    incompatible: [],
    unmigrated: [],
  });
});

Deno.test("changed tables need a migration; a dropped index breaks nothing", () => {
  const index = "index webhooks seller_no, trigger_name";
  const column = "column products.mpn text?";
  const migration = "migration made up";
  for (const fact of [index, column]) {
    const former = without(fact);
    assertEquals(differences(former, thisRelease()).unmigrated, [fact]);
    assertEquals(differences(thisRelease(), former).unmigrated, [fact]);
    const next = changed((facts) => [...facts, migration]);
    assertEquals(differences(former, next).unmigrated, []);
  }
  assertEquals(differences(thisRelease(), without(index)).incompatible, []);
});

Deno.test("removing what clients and operators rely on is incompatible", () => {
  for (
    const fact of [
      "POST /seller_api/bulk_products",
      "request POST /seller_api/bulk_products query dry_run",
      "request product/title: string",
      "request product/status = paused",
      "answer detail/message: string",
      "setting SELLER_PORT",
      "column sellers.name text",
    ]
  ) {
    const { incompatible } = differences(thisRelease(), without(fact));
    assertEquals(incompatible, [`- ${fact}`]);
    // In the other direction it is new.
    const back = differences(without(fact), thisRelease());
    assertEquals([back.added, back.removed, back.incompatible], [
      [fact],
      [],
      [],
    ]);
  }
});

Deno.test("a new requirement on clients is incompatible, except in a new route", () => {
  const parameter = "request POST /seller_api/bulk_products query shop";
  const facts = [parameter, `${parameter} required`];
  const added = changed((former) => [...former, ...facts]);
  assertEquals(
    differences(thisRelease(), added).incompatible,
    [`+ ${parameter} required`],
  );
  const route = "request POST /seller_api/parcels query shop";
  const isNew = changed((former) => [...former, route, `${route} required`]);
  assertEquals(differences(thisRelease(), isNew).incompatible, []);
});

Deno.test("the first number other than 0 allows incompatible changes", () => {
  assert(mayBreak("0.1.0", "0.2.0") && mayBreak("1.2.3", "2.0.0"));
  assert(!mayBreak("0.1.0", "0.1.1") && !mayBreak("1.2.3", "1.3.0"));
});

Deno.test("the newest version of the chapter on changes is this one", () => {
  assertEquals(/^## (\S+)/m.exec(chapter("changes"))![1], VERSION);
});
