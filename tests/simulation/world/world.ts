/**
 * A world drawn from a seed: its actors, the settings of the service, and all
 * steps. Each step has its own random numbers, by its id, so that a step can be
 * left out without changing the others.
 */
import { type Role, ROLES } from "../../../src/config.ts";
import type { Random } from "../../support/random.ts";
import type { Scheduler } from "../scheduler.ts";
import { between, chance, pick, weighted } from "./choice.ts";
import { type EndpointLots, endpointLots } from "./hosts.ts";
import { drawSteps, PLAIN_SELLERS, type Step, type Theme } from "./plan.ts";
import type { SellerPlan } from "./seller.ts";
import { drawSettings, type Settings } from "./settings.ts";

export interface ProcessPlan {
  name: string;
  roles: readonly Role[];
}

export interface World {
  settings: Settings;
  operatorKey: string;
  processes: readonly ProcessPlan[];
  sellers: readonly SellerPlan[];
  /** Whether wall clocks may jump, so that limits of days may pass. */
  jumps: boolean;
  /**
   * Whether its network does not fail, so that all faults are of the service.
   */
  soundNetwork: boolean;
  /** Whether nothing fails, and nothing takes longer than necessary. */
  isPrompt: boolean;
  /** Whether work takes time, depending on its amount. */
  isPriced: boolean;
  /** Whether days pass in the end, in which old data are deleted. */
  ages: boolean;
  /** Whether sellers and the operator get notices. */
  notices: boolean;
  /** The endpoints at which sellers want their events. */
  endpoints: EndpointLots;
  steps: readonly Step[];
}

/** The share of worlds with notices. */
const NOTICES = 0.25;
/**
 * The share of worlds that age, in addition to those of days and of removals.
 */
const AGES = 0.1;

export const OPERATOR_KEY = "operator-key-of-the-simulation";

export function drawWorld(scheduler: Pick<Scheduler, "random">): World {
  const random = scheduler.random("world");
  const drawn = drawSellers(random);
  const { theme, steps } = drawSteps(scheduler, drawn);
  const isPriced = theme === "work";
  const isNarrow = theme === "narrow";
  const isLong = theme === "long";
  const sellers = isPriced || isNarrow || isLong ? PLAIN_SELLERS : drawn;
  const notices = drawNotices(
    scheduler.random("notices"),
    // A file of the other client's stock would set what an import has stored to
    // 0.
    isNarrow ? sellers.slice(0, 1) : sellers,
    theme,
  );
  const processes = drawProcesses(random, theme);
  const isPrompt = theme === "prompt" || isPriced;
  return {
    settings: {
      ...drawSettings(random, isPriced ? 0 : theme === "days" ? 0.6 : 0.2),
      // Hundreds of changes would take hours with a limit.
      ...((isNarrow || isLong) && { rateLimit: 0 }),
    },
    operatorKey: OPERATOR_KEY,
    processes,
    sellers,
    jumps: theme === "days" ||
      steps.some(({ kind }) => kind === "clock back") ||
      (theme === "everything" && chance(random, 0.1)),
    soundNetwork: theme === "catalogue" ||
      (["images", "deliveries"].includes(theme) && chance(random, 0.6)) ||
      steps.some(({ kind }) => kind === "fail the store"),
    isPrompt,
    isPriced,
    ages: !isPriced && (theme === "days" || isLong ||
      steps.some(({ kind }) => kind === "remove") ||
      chance(scheduler.random("ages"), AGES)),
    notices: notices !== null,
    endpoints: steps.some(({ kind }) => kind === "stop a delivery")
      ? { good: 1, slow: 3 }
      : drawEndpoints(random, theme),
    steps: [...steps, ...notices ?? []],
  };
}

/** Imports with notices to sellers; null if no notices are sent. */
function drawNotices(
  random: Random,
  sellers: readonly SellerPlan[],
  theme: Theme,
): Step[] | null {
  if (!chance(random, NOTICES) || theme === "work") return null;
  const imports = sellers.filter(({ hostile, rateLimit }) =>
    !hostile && rateLimit === null
  ).flatMap(({ name }) =>
    Array.from({ length: between(random, 0, 3) }, (_, n) => ({
      id: `${name}/9 #${n}`,
      actor: `${name}/9`,
      afterMs: Math.floor(random.next() ** 2 * 30_000),
      kind: "import",
    }))
  );
  const kind = theme === "everything" && chance(random, 0.3)
    ? "tell nobody"
    : imports.length > 0 && theme !== "prompt" && chance(random, 0.5)
    ? "forget mails"
    : null;
  if (kind === null) return imports;
  const actor = "outages9";
  const afterMs = Math.floor(random.next() * 30_000);
  return [...imports, { id: `${actor} #0`, actor, afterMs, kind }];
}

/** Most worlds have endpoints of all kinds. */
function drawEndpoints(random: Random, theme: Theme): EndpointLots {
  if (theme === "prompt" || theme === "work") return { good: 1 };
  const kind = weighted(random, { all: 4, sound: 3, troubled: 2 });
  const all = endpointLots("takes", "hesitates", "fails", "leaves");
  return {
    all,
    sound: { ...endpointLots("takes"), good: 4 },
    troubled: endpointLots("hesitates", "fails"),
  }[kind];
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

/** One process with all roles, several, or one for each role. */
function drawProcesses(random: Random, theme: Theme): ProcessPlan[] {
  const shapes = { prompt: [1, 0], work: [1, 0], several: [0, 1] };
  const [one, more] = shapes[theme as keyof typeof shapes] ?? [1, 1];
  const shape = weighted(random, {
    one: 5 * one,
    two: 3 * more,
    roles: 2 * more,
    three: more,
  });
  const sets: Record<typeof shape, readonly (readonly Role[])[]> = {
    one: [ROLES],
    two: [ROLES, ROLES],
    roles: [["api"], ["images"], ["webhooks"]],
    three: [["api"], ["api", "images"], ["images", "webhooks"]],
  };
  return sets[shape].map((roles, i) => ({ name: `process ${i + 1}`, roles }));
}
