/**
 * Runs a world on a stage: the steps of all actors, then the end of all faults.
 */
import { child, textAt } from "../../support/app.ts";
import type { Random } from "../../support/random.ts";
import type { Actor, Scene } from "./actor.ts";
import { Aging } from "./aging.ts";
import { BrokenRule, hold } from "./broken_rule.ts";
import { Bundle, BundleClient } from "./bundle.ts";
import { Burden } from "./burden.ts";
import { Caller } from "./caller.ts";
import { CatalogueClient } from "./catalogue_client.ts";
import { CategoryClient, Marketplace } from "./categories.ts";
import { ContactClient } from "./contacts.ts";
import { Counter, CounterClient } from "./counter.ts";
import { CrowdClient } from "./crowd.ts";
import { Ending, type Witnesses } from "./ending.ts";
import { KeyClient } from "./key_client.ts";
import { HistoryClient } from "./long_history.ts";
import { HookClient, USED_TRIGGERS } from "./hook_client.ts";
import { Hostile } from "./hostile.ts";
import { Mirror } from "./mirror.ts";
import { addressOf } from "./notices.ts";
import { Operator } from "./operator.ts";
import { Outages } from "./outages.ts";
import type { Step } from "./plan.ts";
import { PictureClient } from "./picture_client.ts";
import { PriceClient } from "./prices.ts";
import { Puller } from "./puller.ts";
import { RepeatedSaleClient } from "./repeated_sales.ts";
import { SaleClient } from "./sales.ts";
import { Seller, type SellerPlan } from "./seller.ts";
import { Reviewer } from "./reviewer.ts";
import { Shop } from "./shop.ts";
import type { Stage } from "./stage.ts";
import { Stock, StockClient } from "./stock.ts";
import { Trouble } from "./trouble.ts";
import { Watch } from "./watch.ts";
import type { World } from "./world.ts";

const SELLERS = "/operator_api/sellers";
/** How often `/readyz` is read. */
const WATCH_MS = 9_000;

export interface PlayOptions {
  /** Ids of steps to leave out, for finding the smallest world. */
  without?: ReadonlySet<string>;
  /** Called when all steps are done: no fault may begin from now on. */
  calm?: () => void;
}

/** Statistics of a world, for the log of a run. */
export interface Played {
  /** How often each kind of request got which answer. */
  answers: ReadonlyMap<string, number>;
}

/** Rejects with a `BrokenRule` at the first broken rule. */
export async function play(
  stage: Stage,
  world: World,
  { without = new Set(), calm = () => {} }: PlayOptions = {},
): Promise<Played> {
  const failure = Promise.withResolvers<never>();
  const steps = world.steps.filter(({ id }) => !without.has(id));
  const troupe = new Troupe(stage, world, failure.reject);
  const played = troupe.play(steps, calm);
  return await Promise.race([played, failure.promise]);
}

/** All actors of a world. */
class Troupe {
  readonly #scene: Scene;
  readonly #actors = new Map<string, Actor>();
  readonly #bundles = new Map<string, Bundle>();
  readonly #counters = new Map<string, Counter>();
  readonly #marketplace = new Marketplace();
  readonly #stocks = new Map<string, Stock>();
  readonly #sellers: Seller[] = [];
  readonly #mirrors: Mirror[] = [];
  readonly #outages: Outages;
  readonly #fail: (error: unknown) => void;
  #isOver = false;

  constructor(stage: Stage, world: World, fail: (error: unknown) => void) {
    const apis = stage.processes.filter((_, i) =>
      world.processes[i].roles.includes("api")
    );
    const trouble = new Trouble(stage);
    const caller = new Caller({ stage, trouble, apis, fail });
    this.#scene = { world, stage, caller, trouble };
    this.#outages = new Outages(this.#scene);
    this.#fail = fail;
  }

  async play(steps: readonly Step[], calm: () => void): Promise<Played> {
    const { stage, caller, trouble, world } = this.#scene;
    const { scheduler } = stage;
    const random = scheduler.random("beginning");
    for (const plan of world.sellers) await this.#addSeller(plan, random);
    const byActor = Map.groupBy(steps, ({ actor }) => actor);
    const busy = [...byActor].map(([name, own]) => this.#perform(name, own));
    const watches = stage.processes.flatMap((process, i) => {
      const { roles } = world.processes[i];
      return roles.includes("api")
        ? [this.#watch(new Watch(this.#scene, process, roles), process.name)]
        : [];
    });
    for (const watch of watches) watch.catch(this.#fail);
    await Promise.all(busy);
    calm();
    trouble.endAll();
    scheduler.trace(() => "all faults are over");
    for (const process of stage.processes) await this.#outages.start(process);
    const clients = [...this.#actors.values()];
    const pullers = clients.filter((one) => one instanceof Puller);
    const witnesses: Witnesses = {
      sellers: this.#sellers,
      mirrors: this.#mirrors,
      clients: clients.filter((one) => one instanceof CatalogueClient),
      bundles: clients.filter((one) => one instanceof BundleClient),
      hooks: clients.filter((one) => one instanceof HookClient),
      counters: clients.filter((one) =>
        one instanceof CounterClient || one instanceof PriceClient ||
        one instanceof SaleClient || one instanceof ContactClient ||
        one instanceof RepeatedSaleClient
      ),
      stocks: clients.filter((one) => one instanceof StockClient),
      pictures: clients.filter((one) => one instanceof PictureClient),
      pullers,
    };
    const end = new Ending(this.#scene, witnesses);
    await end.settle();
    this.#isOver = true;
    await end.check();
    if (world.ages) {
      await new Aging(this.#scene, this.#outages, witnesses).check();
      await end.checkFollowers();
    }
    return { answers: caller.answers };
  }

  async #addSeller(plan: SellerPlan, random: Random): Promise<void> {
    const { caller, world, stage } = this.#scene;
    stage.scheduler.trace(() => `${plan.name} becomes a seller`);
    const key = world.operatorKey;
    const send = async (method: string, path: string, body?: string) => {
      const call = { method, path, key, body };
      const { reply } = await caller.send("operator", call, random, true);
      return reply!;
    };
    const body = `<seller><name>${plan.name}</name></seller>`;
    const made = await send("POST", SELLERS, body);
    hold(made.status === 200, "true", "a seller is made", made.text);
    const element = child(made.xml!, "seller");
    for (
      const [attribute, value] of [
        ["rate_limit", plan.rateLimit],
        ["product_limit", plan.productLimit],
      ] as const
    ) {
      if (value === null) continue;
      const path = `${SELLERS}/${plan.name}/attribute/${attribute}/${value}`;
      await send("PUT", path);
    }
    const limited = (plan.rateLimit ?? world.settings.rateLimit) > 0;
    const seller = new Seller(plan, {
      id: textAt(element, "id"),
      name: plan.name,
      key: textAt(element, "api_key"),
      keyId: textAt(element, "key_id"),
    }, limited);
    const secret = textAt(element, "webhook_secret");
    seller.secrets.add(secret);
    seller.ownSecrets.push({ secret, madeAt: -Infinity });
    this.#sellers.push(seller);
    if (!world.notices) return;
    const email = encodeURIComponent(addressOf(seller));
    await send("PUT", `${SELLERS}/${plan.name}/attribute/email/${email}`);
  }

  async #perform(name: string, steps: readonly Step[]): Promise<void> {
    const { caller, stage: { scheduler } } = this.#scene;
    const actor = this.#cast(name);
    this.#actors.set(name, actor);
    for (const { id, kind, afterMs } of steps) {
      await caller.sleep(afterMs);
      scheduler.trace(() => `step ${id}: ${kind}`);
      await actor.do(kind, scheduler.random(id));
    }
  }

  #cast(name: string): Actor {
    const scene = this.#scene;
    const honest = this.#sellers.filter(({ plan }) => !plan.hostile);
    if (name.startsWith("shop")) return new Shop(scene, honest, name);
    if (name.startsWith("operator")) return new Operator(scene, honest);
    if (name.startsWith("outages")) return this.#outages;
    if (name.startsWith("mirror")) {
      const mirror = new Mirror(scene, name);
      this.#mirrors.push(mirror);
      return mirror;
    }
    const [owner, part] = name.split("/");
    const seller = this.#sellers.find(({ plan }) => plan.name === owner)!;
    if (seller.plan.hostile) return new Hostile(scene, seller, name);
    if (part === "hooks") return new HookClient(scene, seller, name);
    if (part.startsWith("keys")) return new KeyClient(scene, seller, name);
    if (part === "events") return new Puller(scene, seller, name);
    if (part === "picked") {
      return new Puller(scene, seller, name, USED_TRIGGERS[0]);
    }
    if (part.startsWith("counter") || part === "prices") {
      const counter = this.#counters.get(owner) ?? new Counter(seller);
      this.#counters.set(owner, counter);
      return part === "prices"
        ? new PriceClient(scene, counter, name)
        : new CounterClient(scene, counter, name);
    }
    if (part === "contacts") return new ContactClient(scene, seller, name);
    if (part === "sales") return new SaleClient(scene, seller, name);
    if (part === "resales") return new RepeatedSaleClient(scene, seller, name);
    if (part === "history") return new HistoryClient(scene, seller, name);
    if (part.startsWith("categories")) {
      return new CategoryClient(scene, this.#marketplace, seller, name);
    }
    if (part.startsWith("stock")) {
      const stock = this.#stocks.get(owner) ?? new Stock(seller);
      this.#stocks.set(owner, stock);
      return new StockClient(scene, stock, name);
    }
    if (part.startsWith("pictures")) {
      return new PictureClient(scene, seller, name);
    }
    if (part === "burden") {
      return new Burden(scene, seller, honest.at(-1)!, name);
    }
    if (part.startsWith("reviewer")) return new Reviewer(scene, seller, name);
    if (part.startsWith("crowd")) return new CrowdClient(scene, seller, name);
    if (/^\d/.test(part)) return new CatalogueClient(scene, seller, name);
    const bundle = this.#bundles.get(owner) ?? new Bundle(seller, 4);
    this.#bundles.set(owner, bundle);
    return new BundleClient(scene, bundle, name);
  }

  async #watch(watch: Watch, name: string): Promise<void> {
    const { caller, stage: { scheduler } } = this.#scene;
    const random = scheduler.random(`watch of ${name}`);
    while (!this.#isOver) {
      await watch.do("look", random);
      await caller.sleep(WATCH_MS);
    }
  }
}

export { BrokenRule };
