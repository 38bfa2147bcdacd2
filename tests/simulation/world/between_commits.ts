/**
 * Kills processes between two commits that belong together. The places are
 * named in the source (`deps.maybe`); each has steps of a world that lead to
 * it.
 */
import type { Random } from "../../support/random.ts";
import { between, weighted } from "./choice.ts";
import type { Step, Theme } from "./plan.ts";

/** An actor and its step; `/` and a name stand for an actor of the seller. */
type Cause = readonly [actor: string, kind: string, times: number];

interface Place {
  causes: readonly Cause[];
  /**
   * The process is killed at the place after it has been there up to this many
   * times.
   */
  passes?: number;
  /** Its share of the places, compared with the others; 1 by default. */
  share?: number;
}

const IMPORTS: Place = { causes: [["/7", "import in parts", 1]] };
const UNDO: Place = {
  causes: [...IMPORTS.causes, ["/7", "undo of an import", 1]],
};
const UPLOADS: Place = { causes: [["/7", "upload", 3]] };
const REVIEWS: Place = {
  causes: [
    ["/reviewer", "policy", 1],
    ["/7", "upload", 3],
    ["/reviewer", "decide", 2],
  ],
};
const EVENTS: Place = {
  causes: [["/hooks", "register", 3], ["shop", "event", 6]],
};

export const PLACES = {
  // Also kills between two commits that no place names.
  "write committed": {
    causes: [...UNDO.causes, ...UPLOADS.causes],
    passes: 25,
  },
  "answer ready": { ...UPLOADS, passes: 10 },
  "import pieces written": IMPORTS,
  "import part checked": IMPORTS,
  "import part stored": IMPORTS,
  "import part of an undo checked": { ...UNDO, share: 2 },
  "import part of an undo stored": { ...UNDO, share: 2 },
  "import deleted in part": { causes: [["/7", "dry run of an import", 2]] },
  "images of a part retried": IMPORTS,
  "images claimed": UPLOADS,
  "deliveries claimed": EVENTS,
  "delivery answered": EVENTS,
  "deliveries recovered in part": {
    causes: [["shop", "event", 8], ["/hooks", "make up", 3]],
    share: 3,
  },
  "products decided": REVIEWS,
  "removed_sellers portion done": { causes: [["operator", "remove", 1]] },
  "ended_reviews portion done": {
    causes: [...REVIEWS.causes, ["/reviewer", "end", 1]],
  },
} as const satisfies Readonly<Record<string, Place>>;

export type PlaceOfKill = keyof typeof PLACES;
export const PLACE_NAMES = Object.keys(PLACES) as PlaceOfKill[];
const SHARES = Object.fromEntries(
  PLACE_NAMES.map((name) => [name, (PLACES[name] as Place).share ?? 1]),
) as Record<PlaceOfKill, number>;

const CALM: readonly Theme[] = ["prompt", "several", "quiet", "work"];
/** The longest pause before each step. */
const PAUSE_MS = 2_000;

/** The most places of one world, in addition to any commit. */
const MOST_NAMED = 3;

/** How often a process passes a place before it is killed there. */
export function passesOf(place: PlaceOfKill, random: Random): number {
  const { passes = 0 }: Place = PLACES[place];
  return between(random, 0, passes);
}

/** Steps that lead to places, and the kills there; none if nothing fails. */
export function killBetween(
  seller: string,
  theme: Theme,
  random: Random,
): Step[] {
  if (CALM.includes(theme)) return [];
  const others = Array.from(
    { length: between(random, 0, MOST_NAMED) },
    () => weighted(random, SHARES),
  );
  const places = new Set<PlaceOfKill>(["write committed", ...others]);
  let steps = 0;
  const step = (actor: string, kind: string): Step => ({
    id: `${actor} #k${++steps}`,
    actor,
    afterMs: between(random, 0, PAUSE_MS),
    kind,
  });
  const causesOf = ({ causes }: Place) =>
    causes.flatMap(([actor, kind, times]) =>
      Array.from(
        { length: times },
        () => step(actor.startsWith("/") ? seller + actor : actor, kind),
      )
    );
  return [...places].flatMap((place, n) => [
    // Each has its own actor, so that none waits for another.
    step(`outages7${n}`, `kill at: ${place}`),
    ...causesOf(PLACES[place]),
  ]);
}
