/**
 * A world, drawn from a seed: who is there, how the service is set up, and what
 * everybody does. Each step has random numbers of its own, by its id, so that
 * one can be left out and the others stay as they are.
 */
import { type Role, ROLES } from "../../../src/config.ts";
import type { Random } from "../../support/random.ts";
import type { Scheduler } from "../scheduler.ts";
import type { BundleStep } from "./bundle.ts";
import type { CatalogueStep } from "./catalogue_client.ts";
import { between, chance, pick, weighted } from "./choice.ts";
import type { CrowdStep } from "./crowd.ts";
import type { HookStep } from "./hook_client.ts";
import type { HostileStep } from "./hostile.ts";
import type { OperatorStep } from "./operator.ts";
import type { OutageStep } from "./outages.ts";
import type { SellerPlan } from "./seller.ts";
import { drawSettings, type Settings } from "./settings.ts";
import type { ShopStep } from "./shop.ts";

export interface ProcessPlan {
  name: string;
  roles: readonly Role[];
}

/** Something that somebody does. */
export interface Step {
  /** As in "acme/1 #3"; names its random numbers. */
  id: string;
  /** As in "acme/1". */
  actor: string;
  /** Virtual milliseconds after the actor's step before it. */
  afterMs: number;
  kind: string;
}

export interface World {
  settings: Settings;
  operatorKey: string;
  processes: readonly ProcessPlan[];
  sellers: readonly SellerPlan[];
  /** Wall clocks may jump, so that time limits of days may pass. */
  jumps: boolean;
  steps: readonly Step[];
}

export const OPERATOR_KEY = "operator-key-of-the-simulation";

const CATALOGUE: Readonly<Record<CatalogueStep, number>> = {
  "upload": 8,
  "large upload": 0.3,
  "upload of what is valid": 3,
  "upload with mistakes": 2,
  "dry run": 1,
  "upload sent twice": 1,
  "upload with a used key": 1,
  "upload and leave": 1,
  "attribute": 5,
  "delete": 2,
  "undo": 4,
  "read": 2,
  "list": 2,
  "status": 1,
  "wait": 1,
  "stream": 1,
  "refused products": 1,
  "retry images": 0.5,
  "small reads": 1,
};
const BUNDLE_WRITER: Readonly<Record<BundleStep, number>> = {
  "write": 6,
  "take back": 2,
  "count": 1,
  "read": 1,
};
const BUNDLE_READER: Readonly<Partial<Record<BundleStep, number>>> = {
  "read": 5,
  "count": 2,
};
const CROWD: Readonly<Record<CrowdStep, number>> = {
  "uploads at once": 3,
  "lists at once": 1,
  "mixed": 3,
};
const HOOKS: Readonly<Record<HookStep, number>> = {
  register: 6,
  delete: 1,
  list: 1,
  rotate: 1,
  recover: 1,
  test: 1,
  replay: 1,
};
const SHOP: Readonly<Record<ShopStep, number>> = {
  event: 5,
  burst: 1,
  repeat: 1,
};
const OPERATOR: Readonly<Record<OperatorStep, number>> = {
  "look": 4,
  "scrape": 1,
  "rename": 1,
  "suspend": 1,
  "remove": 0.4,
  "limit": 1,
  "exchange a key": 1,
  "rotate a secret": 1,
};
const HOSTILE: Readonly<Record<HostileStep, number>> = {
  "malformed": 3,
  "too large": 1,
  "slow body": 1,
  "flood of uploads": 2,
  "flood of lists": 2,
  "silent images": 2,
  "stopped readers": 2,
  "waits": 1,
  "wrong keys": 1,
  "odd requests": 3,
  "bomb": 1,
};
const OUTAGES: Readonly<Record<OutageStep, number>> = {
  kill: 3,
  stop: 2,
  fault: 4,
  faults: 1,
  clock: 1,
};

export function drawWorld(
  scheduler: Pick<Scheduler, "random">,
): World {
  const random = scheduler.random("world");
  const sellers = drawSellers(random);
  const processes = drawProcesses(random);
  const steps: Step[] = [];
  const add = <T extends string>(
    actor: string,
    count: number,
    lots: Readonly<Partial<Record<T, number>>>,
    paceMs: number,
  ) => {
    const own = scheduler.random(`plan of ${actor}`);
    for (let n = 0; n < count; n++) {
      const kind = weighted(own, lots);
      const afterMs = Math.floor(own.next() ** 3 * paceMs * 3);
      steps.push({ id: `${actor} #${n}`, actor, afterMs, kind });
    }
  };
  const isQuiet = chance(random, 0.15);
  if (isQuiet) {
    // Where nothing else happens, nothing else wakes what was forgotten.
    for (const { name, hostile } of sellers) {
      if (hostile) continue;
      add(`${name}/crowd`, between(random, 4, 8), CROWD, 120_000);
    }
    const settings = drawSettings(random);
    return {
      settings,
      operatorKey: OPERATOR_KEY,
      processes,
      sellers,
      jumps: false,
      steps,
    };
  }
  for (const { name, hostile, clients, rateLimit } of sellers) {
    const paceMs = rateLimit === null ? pick(random, [20, 500, 3_000]) : 5_000;
    if (hostile) {
      add(`${name}/1`, between(random, 2, 6), HOSTILE, 4_000);
      continue;
    }
    for (let n = 1; n <= clients; n++) {
      const most = rateLimit === null ? 9 : 4;
      add(`${name}/${n}`, between(random, 3, most), CATALOGUE, paceMs);
    }
    if (rateLimit !== null) continue;
    if (chance(random, 0.4)) {
      add(`${name}/writer`, between(random, 2, 6), BUNDLE_WRITER, paceMs);
      add(`${name}/reader`, between(random, 2, 6), BUNDLE_READER, paceMs);
      add(`${name}/reader2`, between(random, 0, 4), BUNDLE_READER, paceMs);
    }
    if (chance(random, 0.4)) {
      add(`${name}/crowd`, between(random, 1, 3), CROWD, paceMs);
    }
    if (chance(random, 0.5)) {
      add(`${name}/hooks`, between(random, 2, 6), HOOKS, paceMs);
    }
  }
  if (chance(random, 0.6)) add("shop", between(random, 2, 8), SHOP, 3_000);
  if (chance(random, 0.5)) {
    add("operator", between(random, 1, 5), OPERATOR, 5_000);
  }
  if (chance(random, 0.5)) {
    add("mirror", between(random, 1, 6), { follow: 1 }, 5_000);
  }
  if (chance(random, 0.6)) {
    add("outages", between(random, 1, 4), OUTAGES, 8_000);
    if (chance(random, 0.3)) {
      add("outages2", between(random, 1, 3), OUTAGES, 8_000);
    }
  }
  return {
    settings: drawSettings(random),
    operatorKey: OPERATOR_KEY,
    processes,
    sellers,
    jumps: chance(random, 0.1),
    steps,
  };
}

function drawSellers(random: Random): SellerPlan[] {
  const names = ["acme", "bolt", "cord"].slice(0, between(random, 1, 2));
  const honest = names.map((name): SellerPlan => {
    const isLimited = chance(random, 0.15);
    return {
      name,
      hostile: false,
      clients: isLimited ? 1 : between(random, 1, 2),
      productLimit: isLimited && chance(random, 0.5)
        ? between(random, 0, 6)
        : null,
      rateLimit: isLimited
        ? pick(random, [1, 2, 10, 19, 20, 60, 109, 110])
        : null,
    };
  });
  if (!chance(random, 0.3)) return honest;
  const none = { clients: 0, productLimit: null, rateLimit: null };
  return [...honest, { name: "mallory", hostile: true, ...none }];
}

/** One process that does everything, several, or one for each role. */
function drawProcesses(random: Random): ProcessPlan[] {
  const shape = weighted(random, { one: 5, two: 3, roles: 2, three: 1 });
  const sets: Record<typeof shape, readonly (readonly Role[])[]> = {
    one: [ROLES],
    two: [ROLES, ROLES],
    roles: [["api"], ["images"], ["webhooks"]],
    three: [["api"], ["api", "images"], ["images", "webhooks"]],
  };
  return sets[shape].map((roles, i) => ({ name: `process ${i + 1}`, roles }));
}
