/**
 * A seller's program that uploads pictures and then products that name them,
 * while processes are killed and the image store fails.
 */
import { createHash } from "node:crypto";
import { picture } from "../../../src/sandbox/pictures.ts";
import { child, textAt } from "../../support/app.ts";
import type { Random } from "../../support/random.ts";
import type { Actor, Scene } from "./actor.ts";
import { detailsOf, type Reply } from "./answers.ts";
import { hold } from "./broken_rule.ts";
import { BULK } from "./catalogue_client.ts";
import { between, chance, pick } from "./choice.ts";
import type { Seller } from "./seller.ts";

const IMAGES = "/seller_api/images";
const TYPES = ["png", "jpg", "gif", "webp", "avif"];
/** Bytes of a picture that arrives in several pieces. */
const LARGE = 90_000;

export type PictureStep =
  /** Uploads a picture. */
  | "send"
  /** Uploads a part of a picture. */
  | "half"
  /** Uploads a product that names pictures. */
  | "name";

export class PictureClient implements Actor {
  readonly #scene: Scene;
  readonly #seller: Seller;
  readonly #name: string;
  /** The bytes of the pictures that are stored, by path. */
  readonly #sent = new Map<string, Uint8Array<ArrayBuffer>>();
  /** The path of the picture that each product names. */
  readonly #named = new Map<string, string>();
  #products = 0;

  constructor(scene: Scene, seller: Seller, name: string) {
    this.#scene = scene;
    this.#seller = seller;
    this.#name = name;
  }

  async do(kind: PictureStep, random: Random): Promise<void> {
    if (this.#seller.removed) return;
    if (kind === "half") return await this.#half(random);
    if (kind === "send" || this.#sent.size === 0) {
      return await this.#upload(random);
    }
    await this.#nameOne(random);
  }

  async #upload(random: Random): Promise<void> {
    const bytes = drawPicture(random);
    const reply = await this.#send(IMAGES, bytes, random);
    if (reply === null || this.#isBeyondLimits(reply, bytes)) return;
    hold(reply.status === 200, "true", "a picture is stored", reply.text);
    const path = new URL(textAt(child(reply.xml!, "image"), "url")).pathname;
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    hold(path.includes(sha256), "true", "its URL is that of its bytes", path);
    this.#sent.set(path, bytes);
  }

  async #half(random: Random): Promise<void> {
    const bytes = drawPicture(random);
    const part = bytes.slice(0, bytes.length - between(random, 13, 40));
    const reply = await this.#send(IMAGES, part, random);
    if (reply === null || this.#isBeyondLimits(reply, part)) return;
    const [code = ""] = codesOf(reply);
    hold(
      code.startsWith("image_"),
      "true",
      "a part of a picture is refused",
      reply.text,
    );
  }

  /** The settings of a world may allow few bytes. */
  #isBeyondLimits(reply: Reply, { length }: Uint8Array): boolean {
    const { imageLimit, imageQuota } = this.#scene.world.settings;
    if (length > imageLimit) return reply.status === 413;
    return codesOf(reply).includes("image_quota_exceeded") &&
      imageQuota < 50 * LARGE;
  }

  get #hasFewProducts(): boolean {
    const { settings } = this.#scene.world;
    return (this.#seller.plan.productLimit ?? settings.productLimit) < 1_000;
  }

  async #nameOne(random: Random): Promise<void> {
    const [path] = pick(random, [...this.#sent]);
    const host = pick(random, ["", "https://former.example"]);
    const sku = `${this.#name.replace("/", "-")}-${this.#products++}`;
    const isUnknown = chance(random, 0.2);
    // A file of other bytes.
    const named = isUnknown ? `/images/00/${"0".repeat(64)}.png` : host + path;
    const body =
      `<products><product><sku>${sku}</sku><title>A picture</title>` +
      `<price currency="SEK">5</price><quantity>1</quantity>` +
      `<images><image>${named}</image></images></product></products>`;
    const reply = await this.#send(BULK, body, random);
    if (reply === null) return;
    const codes = codesOf(reply);
    if (isUnknown) {
      hold(
        codes.includes("unknown_image"),
        "true",
        "an unknown picture is refused",
        reply.text,
      );
      return;
    }
    // After a jump of the clock it may have been there for a week.
    const { world, stage } = this.#scene;
    const mayBeGone = world.jumps || stage.hasLostImages();
    // Without the picture, a URL of another host is that of a stranger.
    const ofMissing = host === "" ? "unknown_image" : "unresolved";
    if (mayBeGone && codes.includes(ofMissing)) return;
    // The seller's other clients may have used up its limit of products.
    if (codes.includes("quota_exceeded") && this.#hasFewProducts) return;
    hold(reply.status === 200, "true", "its picture is known", reply.text);
    this.#named.set(sku, path);
  }

  /** Each product shows its picture, which can be read. */
  async read(random: Random): Promise<void> {
    for (const [sku, path] of this.#named) {
      if (this.#seller.removed) return;
      const url = `/seller_api/products/${sku}`;
      const reply = await this.#send(url, null, random);
      if (reply === null) return;
      hold(reply.status === 200, "true", "its product is there", reply.text);
      hold(
        reply.text.includes(path) && this.#isShown(reply.text),
        "true",
        `${sku} shows the picture that it names`,
        reply.text,
      );
    }
  }

  /** Nothing but the seller can replace a picture that the store has lost. */
  #isShown(text: string): boolean {
    return /status="stored"/.test(text) ||
      this.#scene.stage.hasLostImages() && text.includes("image_removed");
  }

  /** Null if the seller is removed meanwhile. */
  async #send(
    path: string,
    body: string | Uint8Array<ArrayBuffer> | null,
    random: Random,
  ): Promise<Reply | null> {
    const { caller } = this.#scene;
    const seller = this.#seller;
    const call = {
      method: body === null ? "GET" : "POST",
      path,
      key: seller,
      limited: seller.limited,
      ...(body !== null && { body }),
    };
    const { reply } = await caller.send(this.#name, call, random, true);
    return seller.removed ? null : reply!;
  }
}

/** The codes of an error's details; none if the request succeeded. */
function codesOf({ status, xml }: Reply): string[] {
  if (status === 200) return [];
  return detailsOf(xml).map(({ code }) => code);
}

/** One of a few pictures, so that some are sent again. */
function drawPicture(random: Random): Uint8Array<ArrayBuffer> {
  const type = pick(random, TYPES);
  const small = picture(`${between(random, 0, 3)}.${type}`)!;
  if (type !== "jpg" || chance(random, 0.5)) return small;
  const large = new Uint8Array(LARGE);
  // Without the end of the small one, after which a file may be cut.
  large.set(small.subarray(0, -2));
  large.set([0xff, 0xd9], LARGE - 2);
  return large;
}
