/** What every actor in a world does, and when. */
import type { Random } from "../../support/random.ts";
import type { Scheduler } from "../scheduler.ts";
import { killBetween } from "./between_commits.ts";
import type { BundleStep } from "./bundle.ts";
import type { BurdenStep } from "./burden.ts";
import type { CatalogueStep } from "./catalogue_client.ts";
import type { CategoryStep } from "./categories.ts";
import { between, chance, pick, weighted } from "./choice.ts";
import type { ContactStep } from "./contacts.ts";
import type { CounterStep } from "./counter.ts";
import type { CrowdStep } from "./crowd.ts";
import type { HistoryStep } from "./long_history.ts";
import type { HookStep } from "./hook_client.ts";
import type { HostileStep } from "./hostile.ts";
import type { KeyStep } from "./key_client.ts";
import type { OperatorStep } from "./operator.ts";
import type { OutageStep } from "./outages.ts";
import type { PictureStep } from "./picture_client.ts";
import type { PriceStep } from "./prices.ts";
import type { PullStep } from "./puller.ts";
import type { RepeatedSaleStep } from "./repeated_sales.ts";
import type { ReviewStep } from "./reviewer.ts";
import type { SaleStep } from "./sales.ts";
import type { SellerPlan } from "./seller.ts";
import type { ShopStep } from "./shop.ts";
import type { StockStep } from "./stock.ts";

/** A step of an actor. */
export interface Step {
  /** An id such as "acme/1 #3", which names the step's random numbers. */
  id: string;
  /** A name such as "acme/1". */
  actor: string;
  /** Virtual milliseconds after the actor's previous step. */
  afterMs: number;
  kind: string;
}

/**
 * The emphasis of a world. A rare case needs several events at the same moment,
 * and happens in worlds with little else.
 */
export type Theme =
  | "everything"
  | "deliveries"
  | "images"
  | "catalogue"
  | "quiet"
  | "prompt"
  | "several"
  | "days"
  | "work"
  | "narrow"
  | "long";

/** The share of worlds with a catalogue whose statements change nothing. */
const IDLE_STATEMENTS = 0.5;
/** The share of worlds with images in which the image store fails. */
const STORE_FAILURES = 0.5;
/** The share of fitting worlds in which failed images are tried again. */
const RETRIES = 0.15;
/** Longer than the uploads that are reviewed. */
const REVIEWED_MS = 6_000;
/** The share of fitting worlds in which all fields are changed and reviewed. */
const REVIEWS = 0.15;
/** The share of worlds with a kill between two commits. */
const KILLS = 0.35;
/** The share of fitting worlds with several sales of one product. */
const RESALES = 0.15;
/** The share of worlds in which work takes time. */
const WORK = 0.03;
/** The share of worlds in which few rows are changed often. */
const NARROW = 0.08;
/** The share of fitting worlds in which a seller has sales. */
const SALES = 0.25;
/** The share of fitting worlds in which products name contacts. */
const CONTACTS = 0.2;
/** The share of fitting worlds in which a seller with used keys is removed. */
const REMOVALS = 0.15;
/** The share of worlds in which a seller has thousands of uploads. */
const LONG = 0.02;
const THEMES: Readonly<
  Record<Exclude<Theme, "work" | "narrow" | "long">, number>
> = {
  everything: 10,
  deliveries: 3,
  images: 3,
  catalogue: 2,
  quiet: 3,
  prompt: 1,
  several: 3,
  days: 3,
};

const CATALOGUE: Readonly<Record<CatalogueStep, number>> = {
  "upload": 8,
  "large upload": 0.3,
  "upload of what is valid": 3,
  "upload with mistakes": 2,
  "dry run": 1,
  "upload sent twice": 1,
  "upload with a used key": 1,
  "upload and leave": 1,
  "upload and poll": 0,
  "upload of all fields": 0,
  "upload of slow images": 0,
  "upload of weary images": 0,
  "retry of failed images": 0,
  "import": 1,
  "slow import": 0,
  "dry run of an import": 0,
  "import in parts": 0,
  "undo of an import": 0,
  "cancelled import": 0,
  "attribute": 5,
  "attributes": 3,
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
  "race": 2,
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
  "mistakes": 2,
  // Other clients of the seller would also wait.
  "stopped readers": 0,
  "slow readers": 0,
};
const HOOKS: Readonly<Record<HookStep, number>> = {
  register: 6,
  delete: 1,
  list: 1,
  rotate: 1,
  recover: 1,
  "make up": 0,
  test: 1,
  replay: 1,
};
const COUNTER: Readonly<Record<CounterStep, number>> = {
  "add": 3,
  "add to what is read": 2,
  "sell at once": 0,
};
const PRICES: Readonly<Record<PriceStep, number>> = {
  "reprice": 5,
  "read history": 1,
};
const SALE: Readonly<Record<SaleStep, number>> = { begin: 3, look: 4, end: 1 };
const CONTACT: Readonly<Record<ContactStep, number>> = {
  store: 3,
  delete: 2,
  name: 6,
  list: 1,
  follow: 2,
};
const REPEATED_SALES: Readonly<Record<RepeatedSaleStep, number>> = {
  "set": 5,
  "end": 2,
  "take back": 2,
  "read": 4,
  "exchange": 3,
};
const HISTORY: Readonly<Record<HistoryStep, number>> = {
  upload: 1,
  list: 2,
  read: 2,
};
const CATEGORIES: Readonly<Record<CategoryStep, number>> = {
  put: 2,
  upload: 6,
  read: 2,
};
const PICTURES: Readonly<Record<PictureStep, number>> = {
  send: 5,
  half: 2,
  name: 4,
};
/** The share of worlds with images whose seller uploads pictures. */
const WITH_PICTURES = 0.4;
const STOCK: Readonly<Record<StockStep, number>> = {
  offer: 2,
  count: 4,
  file: 3,
  read: 3,
};
/** Worlds with several writers of one product, and other rare ones. */
const OTHERS: readonly Theme[] = [
  "everything",
  "deliveries",
  "catalogue",
  "several",
];
const OF_RETRIES: readonly Theme[] = ["everything", "images", "days"];
const OF_SALES: readonly Theme[] = [...OTHERS, "days", "prompt"];
const OF_REMOVALS: readonly Theme[] = ["everything", "deliveries", "catalogue"];
const KEYS: Readonly<Record<KeyStep, number>> = {
  make: 3,
  use: 6,
  exceed: 1,
  rotate: 2,
  revoke: 1,
  list: 2,
  outlive: 0,
};
const SHOP: Readonly<Partial<Record<ShopStep, number>>> = {
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
const REVIEW: Readonly<Record<ReviewStep, number>> = {
  "policy": 1,
  "decide": 3,
  "look": 0,
  "end": 0,
};
/** Steps that change how events are delivered. */
const STEERING: Readonly<Partial<Record<OperatorStep, number>>> = {
  "suspend": 2,
  "rotate a secret": 1,
};
const HOSTILE: Readonly<Record<HostileStep, number>> = {
  "malformed": 3,
  "too large": 1,
  "slow body": 1,
  "flood of uploads": 2,
  "flood of lists": 2,
  "silent images": 2,
  "many silent images": 0.5,
  "stopped readers": 2,
  "waits": 1,
  "wrong keys": 1,
  "odd requests": 3,
  "bomb": 1,
};
const OUTAGES: Readonly<
  Record<Exclude<OutageStep, `kill at: ${string}`>, number>
> = {
  kill: 3,
  stop: 2,
  fault: 4,
  faults: 1,
  backup: 1,
  clock: 1,
  night: 1,
  "deafen a worker": 0,
  "fail the store": 0,
  "fail the store at the last attempt": 0,
  "fail commits": 0,
  "change nothing": 0,
  "forget mails": 0,
  "tell nobody": 0,
  "stop a delivery": 0,
  "stop an image": 0,
  "clock back": 0,
};

const BURDEN: Readonly<Record<BurdenStep, number>> = {
  "refused documents": 1,
  "undo dry runs": 1,
  "many imports": 1,
  "reads of all kinds": 2,
};

/** Uploads whose images must be fetched. */
const IMAGES: Readonly<Partial<Record<CatalogueStep, number>>> = {
  "upload": 8,
  "import": 1,
  "upload of what is valid": 2,
  "undo": 1,
  "wait": 2,
  "stream": 1,
  "retry images": 1,
};
/** Changes of a catalogue that are undone. */
const CHANGES: Readonly<Partial<Record<CatalogueStep, number>>> = {
  ...CATALOGUE,
  "attribute": 8,
  "undo": 8,
  "wait": 0,
  "stream": 0,
};
const CRASHES: Readonly<Partial<Record<OutageStep, number>>> = {
  kill: 4,
  stop: 3,
  fault: 4,
};
const FOLLOW = { follow: 1 };
const PULL: Readonly<Record<PullStep, number>> = { pull: 2, wait: 1 };

/** Draws a number of steps for an actor. */
type Add = <T extends string>(
  actor: string,
  count: number,
  lots: Readonly<Partial<Record<T, number>>>,
  paceMs: number,
) => void;

type Draw = (
  sellers: readonly SellerPlan[],
  random: Random,
  add: Add,
) => void;

const DRAW: Readonly<Record<Theme, Draw>> = {
  everything: drawEverything,
  deliveries: drawDeliveries,
  images: drawImages,
  catalogue: drawChanges,
  quiet: drawCrowds,
  prompt: drawPrompt,
  several: drawSeveral,
  days: drawDays,
  work: drawWork,
  narrow: drawNarrow,
  long: drawLong,
};

/** The most steps of an actor that may send a request or two a minute. */
const SLOW_STEPS = 2;

function isSlow(sellers: readonly SellerPlan[], actor: string): boolean {
  const [owner] = actor.split("/");
  return sellers.some(({ name, rateLimit }) =>
    name === owner && rateLimit !== null && rateLimit < 10
  );
}

export function drawSteps(
  scheduler: Pick<Scheduler, "random">,
  sellers: readonly SellerPlan[],
): { theme: Theme; steps: Step[] } {
  const random = scheduler.random("plan");
  const drawn = weighted(random, THEMES);
  const isWork = chance(scheduler.random("price of work"), WORK);
  const isNarrow = chance(scheduler.random("narrow"), NARROW);
  const isLong = chance(scheduler.random("long"), LONG);
  const theme = isWork ? "work" : isNarrow ? "narrow" : isLong ? "long" : drawn;
  const steps: Step[] = [];
  DRAW[theme](sellers, random, (actor, count, lots, paceMs) => {
    const own = scheduler.random(`plan of ${actor}`);
    const most = isSlow(sellers, actor) ? SLOW_STEPS : Infinity;
    for (let n = 0; n < Math.min(count, most); n++) {
      const kind = weighted(own, lots);
      const afterMs = Math.floor(own.next() ** 3 * paceMs * 3);
      steps.push({ id: `${actor} #${n}`, actor, afterMs, kind });
    }
  });
  const rare = scheduler.random("rare steps");
  const rarely = (
    actor: string,
    count: number,
    kind: CatalogueStep | OutageStep,
  ) => {
    for (let n = 0; n < count; n++) {
      const afterMs = Math.floor(rare.next() ** 2 * 20_000);
      steps.push({ id: `${actor} #${n}`, actor, afterMs, kind });
    }
  };
  const [{ name, rateLimit }] = sellers;
  if (theme === "several" && rateLimit === null && chance(rare, 0.3)) {
    rarely(`${name}/8`, 1, "slow import");
  }
  if (theme === "images" && chance(rare, 0.35)) {
    rarely("outages8", between(rare, 1, 3), "deafen a worker");
  }
  if (theme === "catalogue" && chance(rare, 0.35)) {
    rarely("outages8", 1, "fail commits");
  }
  const idle = scheduler.random("idle statements");
  if (theme === "catalogue" && chance(idle, IDLE_STATEMENTS)) {
    const step = stepsWithin(3_000, idle);
    for (let n = 0; n < 3; n++) {
      steps.push(step("outages4", n, "change nothing"));
    }
  }
  const polls = scheduler.random("polls");
  if (theme === "images" && rateLimit === null && chance(polls, 0.5)) {
    for (let n = 0; n < 3; n++) {
      const afterMs = between(polls, 0, 10_000);
      const actor = `${name}/6`;
      steps.push({
        id: `${actor} #${n}`,
        actor,
        afterMs,
        kind: "upload and poll",
      });
    }
  }
  const others = scheduler.random("others");
  if (rateLimit === null && OTHERS.includes(theme) && chance(others, 0.25)) {
    const draw = <T extends string>(
      actor: string,
      count: number,
      lots: Readonly<Record<T, number>>,
    ) => {
      for (let n = 0; n < count; n++) {
        const afterMs = between(others, 0, 3_000);
        const kind = weighted(others, lots);
        steps.push({ id: `${actor} #${n}`, actor, afterMs, kind });
      }
    };
    for (const part of ["counter", "counter2", "counter3"]) {
      draw(`${name}/${part}`, between(others, 4, 12), COUNTER);
    }
    draw(`${name}/picked`, 4, PULL);
    draw("shop2", 4, { event: 1 });
    draw(`${name}/keys2`, 3, { outlive: 1 });
  }
  const cancels = scheduler.random("cancels");
  if (rateLimit === null && OTHERS.includes(theme) && chance(cancels, 0.1)) {
    steps.push({
      id: `${name}/5 #0`,
      actor: `${name}/5`,
      afterMs: between(cancels, 0, 8_000),
      kind: "cancelled import",
    });
  }
  const sales = scheduler.random("sales");
  if (rateLimit === null && OTHERS.includes(theme) && chance(sales, SALES)) {
    const actor = `${name}/sales`;
    for (let n = between(sales, 4, 10); n > 0; n--) {
      const afterMs = between(sales, 0, 4_000);
      const kind = weighted(sales, SALE);
      steps.push({ id: `${actor} #${n}`, actor, afterMs, kind });
    }
  }
  const contacts = scheduler.random("contacts");
  if (
    rateLimit === null && OTHERS.includes(theme) && chance(contacts, CONTACTS)
  ) {
    const actor = `${name}/contacts`;
    for (let n = between(contacts, 6, 16); n > 0; n--) {
      const afterMs = between(contacts, 0, 2_000);
      const kind = weighted(contacts, CONTACT);
      steps.push({ id: `${actor} #${n}`, actor, afterMs, kind });
    }
  }
  const pictures = scheduler.random("pictures");
  if (theme === "images" && chance(pictures, WITH_PICTURES)) {
    for (const part of ["pictures", "pictures2"]) {
      const count = between(pictures, 3, 8);
      for (let n = 0; n < count; n++) {
        const afterMs = between(pictures, 0, 4_000);
        const actor = `${name}/${part}`;
        const kind = weighted(pictures, PICTURES);
        steps.push({ id: `${actor} #${n}`, actor, afterMs, kind });
      }
    }
  }
  const reviews = scheduler.random("reviews");
  if (
    rateLimit === null && OTHERS.includes(theme) && chance(reviews, REVIEWS)
  ) {
    steps.push(...reviewsOf(name, reviews));
  }
  const store = scheduler.random("store failures");
  if (theme === "images" && chance(store, STORE_FAILURES)) {
    steps.push(...storeFailures(name, store));
  }
  const retries = scheduler.random("retries");
  if (
    rateLimit === null && OF_RETRIES.includes(theme) && chance(retries, RETRIES)
  ) {
    const step = stepsWithin(5_000, retries);
    for (let n = 0; n < 2; n++) {
      steps.push(step(`${name}/4`, n, "retry of failed images"));
    }
  }
  const kills = scheduler.random("kills between commits");
  if (rateLimit === null && chance(kills, KILLS)) {
    steps.push(...killBetween(name, theme, kills));
  }
  const repeated = scheduler.random("repeated sales");
  const hasSales = OF_SALES.includes(theme) && chance(repeated, RESALES);
  if (rateLimit === null && hasSales) {
    const actor = `${name}/resales`;
    const paceMs = pick(repeated, [2_000, 20_000]);
    for (let n = between(repeated, 6, 14); n > 0; n--) {
      const afterMs = between(repeated, 0, paceMs);
      const kind = weighted(repeated, REPEATED_SALES);
      steps.push({ id: `${actor} #${n}`, actor, afterMs, kind });
    }
  }
  const removals = scheduler.random("removals");
  const free = sellers.filter(({ hostile, rateLimit }) =>
    !hostile && rateLimit === null
  );
  if (
    free.length > 1 && OF_REMOVALS.includes(theme) && chance(removals, REMOVALS)
  ) {
    steps.push(...removalOf(free, removals));
  }
  return { theme, steps };
}

/** Makes steps, each up to this long after the actor's previous one. */
function stepsWithin(mostMs: number, random: Random) {
  return (actor: string, n: number, kind: string): Step => ({
    id: `${actor} #${n}`,
    actor,
    afterMs: between(random, 0, mostMs),
    kind,
  });
}

/**
 * All fields of products are changed again and again, while they are reviewed
 * and a mirror follows. The last step is a decision.
 */
function reviewsOf(seller: string, random: Random): Step[] {
  const step = stepsWithin(4_000, random);
  const rounds = [1, 2, 3, 4, 5, 6];
  return [
    ...rounds.flatMap((n) => [
      step(`${seller}/0`, n, "upload of all fields"),
      step(`${seller}/reviewer2`, n, "decide"),
      step(`${seller}/reviewer3`, n, "look"),
      step("mirror3", n, "catch up"),
    ]),
    { ...step(`${seller}/reviewer2`, 7, "decide"), afterMs: REVIEWED_MS },
  ];
}

/**
 * Sellers use Idempotency-Keys for changes that make no transaction; then one
 * of these sellers is removed.
 */
function removalOf(sellers: readonly SellerPlan[], random: Random): Step[] {
  const step = stepsWithin(1_000, random);
  const changes = sellers.flatMap(({ name }) =>
    [1, 2, 3].map((n) => step(`${name}/counter5`, n, "add"))
  );
  const afterMs = between(random, 3_000, 10_000);
  return [...changes, { ...step("operator2", 1, "remove"), afterMs }];
}

/**
 * The image store fails while images are fetched, most often during their last
 * attempt.
 */
function storeFailures(seller: string, random: Random): Step[] {
  const step = stepsWithin(2_000, random);
  const steps = [1, 2, 3].flatMap((n) => [
    step("outages5", n, "fail the store"),
    step(`${seller}/3`, n, "upload of slow images"),
  ]);
  if (!chance(random, 0.6)) return steps;
  return [
    ...steps,
    step(`${seller}/3`, 4, "upload of weary images"),
    step("outages6", 0, "fail the store at the last attempt"),
  ];
}

function drawEverything(
  sellers: readonly SellerPlan[],
  random: Random,
  add: Add,
): void {
  for (const seller of sellers) drawSeller(seller, random, add);
  if (chance(random, 0.6)) add("shop", between(random, 2, 8), SHOP, 3_000);
  if (chance(random, 0.5)) {
    add("operator", between(random, 1, 5), OPERATOR, 5_000);
  }
  if (chance(random, 0.5)) add("mirror", between(random, 1, 6), FOLLOW, 5_000);
  if (chance(random, 0.6)) {
    add("outages", between(random, 1, 4), OUTAGES, 8_000);
  }
  if (chance(random, 0.2)) {
    add("outages2", between(random, 1, 3), OUTAGES, 8_000);
  }
  for (const { name, hostile, rateLimit } of sellers) {
    if (hostile || rateLimit !== null || !chance(random, 0.4)) continue;
    add(`${name}/keys`, between(random, 6, 20), KEYS, 3_000);
  }
}

function drawSeller(
  { name, hostile, clients, rateLimit }: SellerPlan,
  random: Random,
  add: Add,
): void {
  if (hostile) return add(`${name}/1`, between(random, 2, 6), HOSTILE, 4_000);
  if (rateLimit !== null) {
    return add(`${name}/1`, between(random, 3, 5), CATALOGUE, 5_000);
  }
  const paceMs = pick(random, [20, 500, 3_000]);
  for (let n = 1; n <= clients; n++) {
    add(`${name}/${n}`, between(random, 3, 9), CATALOGUE, paceMs);
  }
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
    add(`${name}/events`, between(random, 0, 4), PULL, paceMs);
  }
}

/** Events are delivered while processes end. */
function drawDeliveries(
  [{ name }]: readonly SellerPlan[],
  random: Random,
  add: Add,
): void {
  add(`${name}/hooks`, between(random, 4, 8), HOOKS, 1_500);
  add("shop", between(random, 5, 12), SHOP, pick(random, [1_500, 5_000]));
  add(`${name}/events`, between(random, 0, 6), PULL, 3_000);
  add("operator", between(random, 0, 3), STEERING, 3_000);
  add("outages", between(random, 2, 5), CRASHES, 3_000);
  if (!chance(random, 0.4)) return;
  add("outages2", between(random, 2, 4), { "stop a delivery": 1 }, 2_000);
}

/** Images are fetched while the parts that they need fail. */
function drawImages(
  [{ name }]: readonly SellerPlan[],
  random: Random,
  add: Add,
): void {
  const paceMs = pick(random, [500, 8_000]);
  add(`${name}/1`, between(random, 3, 8), IMAGES, paceMs);
  add("outages", between(random, 2, 5), CRASHES, 3_000);
  if (chance(random, 0.5)) add("mirror", 3, FOLLOW, 8_000);
  if (!chance(random, 0.8)) return;
  add("outages2", between(random, 3, 7), { "stop an image": 1 }, 1_500);
}

/** A catalogue changes much, and changes are undone. */
function drawChanges(
  [{ name }]: readonly SellerPlan[],
  random: Random,
  add: Add,
): void {
  add(`${name}/1`, between(random, 10, 25), CHANGES, 300);
  add("mirror", between(random, 2, 12), FOLLOW, pick(random, [300, 2_000]));
  if (chance(random, 0.5)) {
    const lots = { kill: 1, stop: 1, fault: 3 };
    add("outages", between(random, 2, 4), lots, 3_000);
  }
  if (chance(random, 0.6)) {
    add(`${name}/reviewer`, between(random, 4, 12), REVIEW, 500);
    if (chance(random, 0.5)) add(`${name}/events`, 3, PULL, 3_000);
  }
  if (!chance(random, 0.4)) return;
  // A change while a clock is behind comes after everything that was read.
  add("outages2", 1, { "clock back": 1 }, 1_000);
  add("mirror2", between(random, 6, 16), { "catch up": 1 }, 800);
}

/** Wake-ups take effect at once. */
function drawPrompt(
  [{ name, rateLimit }]: readonly SellerPlan[],
  random: Random,
  add: Add,
): void {
  add(`${name}/1`, between(random, 8, 20), { "upload": 1, "wait": 2 }, 300);
  if (rateLimit === null) add(`${name}/hooks`, 5, { register: 1 }, 50);
  add("shop", between(random, 10, 20), { event: 1, "at once": 3 }, 1_000);
  if (rateLimit !== null) return;
  add(`${name}/2`, 3, { import: 1 }, 2_000);
  add(`${name}/events`, 5, { wait: 1 }, 1_000);
}

/** Nothing fails; several processes must notice each other's changes. */
function drawSeveral(
  [{ name, rateLimit }]: readonly SellerPlan[],
  random: Random,
  add: Add,
): void {
  const lots = { "upload": 4, "upload of what is valid": 1, "wait": 5 };
  add(`${name}/1`, between(random, 5, 12), lots, pick(random, [100, 2_000]));
  if (rateLimit !== null) return;
  add(`${name}/2`, between(random, 0, 8), lots, 500);
  add(`${name}/hooks`, between(random, 2, 6), { register: 1 }, 500);
  add(`${name}/events`, between(random, 2, 6), PULL, 2_000);
  add("shop", between(random, 8, 16), SHOP, pick(random, [500, 3_000]));
}

/** Days pass, and old data are deleted. */
function drawDays(
  sellers: readonly SellerPlan[],
  random: Random,
  add: Add,
): void {
  const lots = { ...CATALOGUE, "delete": 5, "status": 3 };
  for (const { name, hostile } of sellers) {
    if (!hostile) add(`${name}/1`, between(random, 8, 20), lots, 3_000);
  }
  add("shop", between(random, 2, 8), SHOP, 3_000);
  add("mirror", between(random, 2, 6), FOLLOW, 5_000);
  add("outages", between(random, 3, 6), { night: 5, clock: 2, kill: 1 }, 8_000);
}

const FREE = {
  hostile: false,
  clients: 1,
  productLimit: null,
  rateLimit: null,
};
/** Sellers without limits. */
export const PLAIN_SELLERS: readonly SellerPlan[] = [
  { name: "acme", ...FREE },
  { name: "bolt", ...FREE },
];

function drawWork(_: readonly SellerPlan[], random: Random, add: Add): void {
  add(`${PLAIN_SELLERS[0].name}/burden`, between(random, 2, 5), BURDEN, 500);
}

/**
 * One product of a seller, and the stock of another seller, are changed often.
 */
function drawNarrow(_: readonly SellerPlan[], random: Random, add: Add): void {
  const [{ name: first }, { name: second }] = PLAIN_SELLERS;
  const paceMs = pick(random, [20, 300, 2_000]);
  add(`${first}/prices`, between(random, 8, 14), PRICES, paceMs);
  for (const part of ["counter", "counter2", "counter3"]) {
    add(`${first}/${part}`, between(random, 5, 15), COUNTER, paceMs);
  }
  const tills = { "sell at once": 1 };
  add(`${first}/counter4`, between(random, 1, 2), tills, paceMs);
  for (const part of ["stock", "stock2", "stock3"]) {
    add(`${second}/${part}`, between(random, 5, 15), STOCK, paceMs);
  }
  for (const part of ["categories", "categories2"]) {
    add(`${first}/${part}`, between(random, 5, 15), CATEGORIES, paceMs);
  }
  if (!chance(random, 0.6)) return;
  add("outages", between(random, 2, 5), CRASHES, 3_000);
}

/** A seller has uploads of years, which are listed, deleted, and end with it. */
function drawLong(_: readonly SellerPlan[], random: Random, add: Add): void {
  const [{ name }] = PLAIN_SELLERS;
  const paceMs = pick(random, [20, 1_000]);
  add(`${name}/history`, between(random, 6, 12), HISTORY, paceMs);
  add(`${name}/1`, between(random, 2, 5), CATALOGUE, 2_000);
  if (chance(random, 0.5)) add("outages", 2, CRASHES, 3_000);
  if (chance(random, 0.5)) add("operator", 1, { remove: 1 }, 20_000);
}

/** Nothing else happens, so nothing else wakes what was forgotten. */
function drawCrowds(
  sellers: readonly SellerPlan[],
  random: Random,
  add: Add,
): void {
  for (const { name, hostile } of sellers) {
    if (hostile) continue;
    const lots = { ...CROWD, "stopped readers": 1 };
    add(`${name}/crowd`, between(random, 4, 8), lots, 30_000);
  }
  if (chance(random, 0.3)) add("outages", 3, { stop: 1 }, 20_000);
  const [{ name, rateLimit }] = sellers;
  if (rateLimit !== null || !chance(random, 0.4)) return;
  add(`${name}/crowd2`, 1, { "slow readers": 1 }, 30_000);
}
