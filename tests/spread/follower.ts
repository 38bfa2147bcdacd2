/**
 * A follower of the operator's feed, whose copy must equal what sellers read.
 */
import { assertEquals } from "@std/assert";
import type { XmlElement } from "../../src/xml/decode.ts";
import { parseTree } from "../../src/xml/decode.ts";
import { OPERATOR } from "../processes/service.ts";
import { child } from "../support/app.ts";
import { pause, until } from "../support/clock.ts";
import { nextOf } from "../support/read_out.ts";
import type { Stage } from "./stage.ts";

const PAGE = 250;
/** The pause before the feed is read again at its end. */
const AGAIN_MS = 200;

/** Reads a list from any process; repeats the request after a 503. */
async function read(
  { processes }: Stage,
  path: string,
  key: string,
): Promise<XmlElement> {
  for (;;) {
    const response = await fetch(`${processes.nextUrl()}${path}`, {
      headers: { "x-service-auth": key },
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.status === 200) return parseTree(bytes);
    assertEquals(response.status, 503, new TextDecoder().decode(bytes));
    await pause(AGAIN_MS);
  }
}

/** A product without the attributes that only the feed has. */
function contentOf(product: XmlElement): string {
  return product.children.map(({ source }) => source).join("");
}

/** A copy of the catalogue, by the id of the product. */
class Follower {
  readonly products = new Map<string, string>();
  #after = "";

  constructor(private readonly stage: Stage) {}

  /** Reads new changes; returns false if there are none. */
  async follow(): Promise<boolean> {
    const after = this.#after === "" ? "" : `&after=${this.#after}`;
    const path = `/operator_api/products?limit=${PAGE}${after}`;
    const page = await read(this.stage, path, OPERATOR);
    const products = child(page, "products").children;
    for (const product of products) {
      const id = child(product, "id").text;
      if (product.attributes.deleted_at !== undefined) this.products.delete(id);
      else this.products.set(id, contentOf(product));
    }
    this.#after = nextOf(page) ?? this.#after;
    return products.length > 0;
  }
}

/** The products that all sellers read, by id. */
async function readOut(stage: Stage): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const key of stage.processes.keys.values()) {
    for (let after: string | null = "";;) {
      const page: XmlElement = await read(
        stage,
        `/seller_api/products?limit=${PAGE}${after && `&after=${after}`}`,
        key,
      );
      for (const product of child(page, "products").children) {
        found.set(child(product, "id").text, contentOf(product));
      }
      after = nextOf(page);
      if (after === null) break;
    }
  }
  return found;
}

/**
 * Follows the feed from before `doing` until it has every product in the
 * version that its seller reads, and no other product.
 */
export async function followed(
  stage: Stage,
  doing: () => Promise<void>,
): Promise<void> {
  const follower = new Follower(stage);
  let hasEnded = false;
  const following = (async () => {
    while (!hasEnded) {
      if (await follower.follow()) continue;
      await pause(AGAIN_MS);
    }
  })();
  try {
    await doing();
    const expected = await readOut(stage);
    await until(
      () => follower.products.size === expected.size,
      "the whole catalogue",
    );
  } finally {
    hasEnded = true;
    await following;
  }
  while (await follower.follow()) continue;
  const expected = await readOut(stage);
  for (const [id, product] of expected) {
    assertEquals(follower.products.get(id), product);
  }
  assertEquals(follower.products.size, expected.size);
}
