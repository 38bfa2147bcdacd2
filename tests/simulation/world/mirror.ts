/** A copy of the catalogue that follows the operator's feed. */
import type { XmlElement } from "../../../src/xml/decode.ts";
import { child, textAt } from "../../support/app.ts";
import type { Random } from "../../support/random.ts";
import { nextOf, valueOf } from "../../support/read_out.ts";
import type { Actor, Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import { pick } from "./choice.ts";

/** A product as the feed shows it; images with status and address. */
export interface Shown {
  seller: string;
  /** The source of its elements. */
  source: string;
}

export type MirrorStep = "follow" | "catch up";

export class Mirror implements Actor {
  readonly #scene: Scene;
  readonly #name: string;
  #cursor: string | null = null;
  /** Products by id. */
  readonly products = new Map<string, Shown>();
  /** Ids of deleted products. */
  readonly deleted = new Set<string>();

  constructor(scene: Scene, name: string) {
    this.#scene = scene;
    this.#name = name;
  }

  async do(kind: MirrorStep, random: Random): Promise<void> {
    if (kind === "catch up") return await this.catchUp(random);
    // Reads a page or two; a later step reads the rest.
    for (let pages = 1 + random.below(2); pages > 0; pages--) {
      if (!await this.#page(random, pick(random, [1, 7, 250]))) return;
    }
  }

  /** Reads to the end of the feed. */
  async catchUp(random: Random): Promise<void> {
    while (await this.#page(random, 250));
  }

  /** Returns false at the end. */
  async #page(random: Random, limit: number): Promise<boolean> {
    const after = this.#cursor === null ? "" : `&after=${this.#cursor}`;
    const { caller, world } = this.#scene;
    const { reply } = await caller.send(
      this.#name,
      {
        method: "GET",
        path: `/operator_api/products?limit=${limit}${after}`,
        key: world.operatorKey,
      },
      random,
      true,
    );
    hold(reply!.status === 200, "true", "the feed is answered", reply!.text);
    const { children } = child(reply!.xml!, "products");
    for (const entry of children) this.#take(entry);
    const next = nextOf(reply!.xml!);
    hold(
      (next !== null) === (children.length > 0),
      "contract",
      "a page of the feed has a <next>, unless it is empty",
      reply!.text,
    );
    this.#cursor = next ?? this.#cursor;
    return next !== null;
  }

  #take(entry: XmlElement): void {
    const id = textAt(entry, "id");
    if (valueOf(entry, "@deleted_at") !== null) {
      this.products.delete(id);
      this.deleted.add(id);
      return;
    }
    hold(!this.deleted.has(id), "true", "a deleted product stays so", id);
    const { seller } = entry.attributes;
    this.products.set(id, { seller, source: sourceOf(entry) });
  }
}

/** Without empty lists, which XML leaves out and JSON does not. */
export function sourceOf({ source }: XmlElement): string {
  return source.replaceAll(/<(categories|attributes|images)\/>/g, "")
    // A change of a contact is no change of the products that name it.
    .replaceAll(
      /<(manufacturer|responsible_person) name="([^"]*)">.*?<\/\1>/g,
      "<$1>$2</$1>",
    );
}
