/**
 * The marketplace's list of categories, which the operator replaces while a
 * seller uploads products of them and reads it.
 */
import { child } from "../../support/app.ts";
import type { Random } from "../../support/random.ts";
import { sometimes } from "../../support/sometimes.ts";
import type { Actor, Scene } from "./actor.ts";
import { detailsOf } from "./answers.ts";
import { hold } from "./broken_rule.ts";
import { BULK } from "./catalogue_client.ts";
import { chance, pick } from "./choice.ts";
import { Register } from "./register.ts";
import type { Seller } from "./seller.ts";

/** What a list says of the category that products name. */
type Rule = "none" | "free" | "needs" | "steel" | "later";

const CATEGORY = "Narrow/Mugs";
const ATTRIBUTE = '<rule attribute="material" required="true"';
const RULES: Readonly<Record<Rule, string>> = {
  none: "",
  free: "",
  needs: `${ATTRIBUTE}/>`,
  steel: `${ATTRIBUTE}><value>steel</value></rule>`,
  later: `${ATTRIBUTE} from="2090-01-01"/>`,
};
const RULE_NAMES = Object.keys(RULES) as Rule[];

/** Values of the attribute; null: it is left out. */
const MATERIALS = [null, "steel", "brass"] as const;
type Material = typeof MATERIALS[number];

function refuses(rule: Rule, material: Material): boolean {
  return (rule === "needs" && material === null) ||
    (rule === "steel" && material !== "steel");
}

/** A list that was put; each has a category with its number. */
interface List {
  no: number;
  rule: Rule;
}

export class Marketplace {
  readonly list = new Register<List>({ no: 0, rule: "none" });
  lists = 0;
}

export type CategoryStep = "put" | "upload" | "read";

export class CategoryClient implements Actor {
  readonly #scene: Scene;
  readonly #marketplace: Marketplace;
  readonly #seller: Seller;
  readonly #name: string;
  #requests = 0;
  /** The last list that it read. */
  #read: { etag: string; no: number } | null = null;

  constructor(
    scene: Scene,
    marketplace: Marketplace,
    seller: Seller,
    name: string,
  ) {
    this.#scene = scene;
    this.#marketplace = marketplace;
    this.#seller = seller;
    this.#name = name;
  }

  async do(kind: CategoryStep, random: Random): Promise<void> {
    if (this.#seller.removed) return;
    if (kind === "put") return await this.#put(random);
    if (kind === "upload") return await this.#upload(random);
    return await this.#readList(random);
  }

  async #put(random: Random): Promise<void> {
    const { caller, world, stage } = this.#scene;
    const rule = pick(random, RULE_NAMES);
    const no = ++this.#marketplace.lists;
    stage.scheduler.trace(() => `list ${no} of categories: ${rule}`);
    const body = rule === "none" ? "<categories/>" : "<categories>" +
      `<category name="${CATEGORY}">${RULES[rule]}</category>` +
      `<category name="List ${no}"/></categories>`;
    const written = this.#marketplace.list.write({ no, rule });
    const { reply } = await caller.send(
      this.#name,
      {
        method: "PUT",
        path: "/operator_api/categories",
        key: world.operatorKey,
        body,
      },
      random,
      true,
    );
    hold(reply!.status === 200, "true", "a list is put", reply!.text);
    written.done();
  }

  /** A product is judged by the list that was put last. */
  async #upload(random: Random): Promise<void> {
    const { list } = this.#marketplace;
    const material = pick(random, MATERIALS);
    const sku = `${this.#name.replace("/", "-")}-${this.#requests++}`;
    const isDry = chance(random, 0.2);
    const attributes = material === null
      ? ""
      : `<attributes><attribute name="material">${material}</attribute>` +
        "</attributes>";
    const begun = list.now();
    const { caller } = this.#scene;
    const { reply } = await caller.send(
      this.#name,
      {
        method: "POST",
        path: `${BULK}?v=1.1${isDry ? "&dry_run=true" : ""}`,
        key: this.#seller,
        limited: this.#seller.limited,
        body: `<products><product><sku>${sku}</sku><title>Mug</title>` +
          `<price currency="SEK">5</price><quantity>1</quantity>` +
          `<categories><category>${CATEGORY}</category></categories>` +
          `${attributes}</product></products>`,
        headers: { "Idempotency-Key": sku },
      },
      random,
      true,
    );
    if (this.#seller.removed) return;
    const possible = list.possible(begun);
    const isRefused = reply!.status === 422;
    hold(
      (reply!.status === 200 || isRefused) &&
        possible.some(({ rule }) => refuses(rule, material) === isRefused),
      "true",
      "a product is judged by the list that was put last",
      { possible, material, answer: reply!.text },
    );
    if (!isRefused) return;
    const code = material === null ? "attribute_required" : "not_in_list";
    const reported = detailsOf(reply!.xml).map((detail) => detail.code);
    hold(reported.join() === code, "true", `${code} is told`, reply!.text);
    sometimes("a product that its category refuses");
  }

  /** The list that was put last, or nothing if it is the one that it knows. */
  async #readList(random: Random): Promise<void> {
    const { list } = this.#marketplace;
    const known = this.#read;
    const begun = list.now();
    const { caller } = this.#scene;
    const { reply } = await caller.send(
      this.#name,
      {
        method: "GET",
        path: "/seller_api/categories",
        key: this.#seller,
        limited: this.#seller.limited,
        ...(known !== null && { headers: { "If-None-Match": known.etag } }),
      },
      random,
      true,
    );
    if (this.#seller.removed) return;
    const { status, headers, xml, text } = reply!;
    const possible = list.possible(begun)
      .map(({ no, rule }) => rule === "none" ? 0 : no);
    const no = status === 304
      ? known!.no
      : Number(/List (\d+)/.exec(text)?.[1] ?? 0);
    hold(
      (status === 200 || status === 304) && possible.includes(no),
      "true",
      "the list that was put last is read",
      { possible, no, text },
    );
    if (status !== 200) return;
    const names = child(xml!, "categories").children
      .map(({ attributes }) => attributes.name ?? "");
    const isWhole = no === 0 ? names.length === 0 : names.length === 2;
    hold(isWhole, "atomic", "a list is read as it was put", text);
    const etag = headers.get("etag");
    this.#read = etag === null ? null : { etag, no };
    if (known !== null && etag === known.etag) {
      hold(no === known.no, "true", "another list has another ETag", text);
    }
  }
}
