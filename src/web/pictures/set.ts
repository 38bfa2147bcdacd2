/**
 * The pictures that a person has chosen: the product of each, its place among
 * the pictures of that product, and what is left out.
 */
import { LISTS } from "../../catalogue/fields.ts";
import type { ImageType } from "../../images/image_types.ts";
import type { UnsentFile } from "./kinds.ts";
import {
  compareNames,
  comparePlaces,
  type PictureMatch,
  type SkuIndex,
} from "./matching.ts";
import { isReducible, LARGE_BYTES } from "./resizing.ts";
import type { SlicedWork } from "../lib/slices.ts";

export interface Picture {
  key: string;
  path: string;
  file: File;
  type: ImageType;
}

/** What a person has decided about pictures. */
export interface Choices {
  /** The SKU of each picture by its key; null: it is not sent. */
  products: ReadonlyMap<string, string | null>;
  /** The changed orders of pictures, by SKU. */
  orders: ReadonlyMap<string, readonly string[]>;
}

export const NO_CHOICES: Choices = { products: new Map(), orders: new Map() };

/** The pictures of one product, in their order. */
export interface PictureGroup {
  sku: string;
  pictures: readonly Picture[];
  /** Pictures beyond the most that a product can have. */
  tooMany: readonly Picture[];
}

/** A picture that fits no product, or several. */
export interface UnmatchedPicture {
  picture: Picture;
  /** The SKUs that its name fits equally well; none: it fits none. */
  skus: readonly string[];
}

export interface Assignment {
  groups: readonly PictureGroup[];
  unmatched: readonly UnmatchedPicture[];
  /** Pictures that a person has left out. */
  leftOut: readonly Picture[];
}

/** The most pictures of a product. */
export const MOST_PICTURES: number = LISTS.images.max;

/** The number of pictures assigned between two pauses. */
const STEP = 100;

/**
 * Assigns each picture to the product that its name shows, or that a person has
 * chosen; with `only`, all to that product.
 */
export function* assign(
  pictures: readonly Picture[],
  index: SkuIndex,
  { products, orders }: Choices,
  only: string | null = null,
): SlicedWork<Assignment> {
  const bySku = new Map<string, (Picture & PictureMatch)[]>();
  const unmatched: UnmatchedPicture[] = [];
  const leftOut: Picture[] = [];
  for (const [i, picture] of pictures.entries()) {
    if (i % STEP === STEP - 1) yield;
    const match = index.match(picture.path);
    const chosen = products.get(picture.key) ?? only ?? undefined;
    if (products.get(picture.key) === null) {
      leftOut.push(picture);
      continue;
    }
    const skus = chosen === undefined ? match.skus : [chosen];
    if (skus.length !== 1) unmatched.push({ picture, skus });
    else {
      const matched = { ...picture, ...match };
      const others = bySku.get(skus[0]);
      if (others === undefined) bySku.set(skus[0], [matched]);
      else others.push(matched);
    }
  }
  const inOrderOfSkus = [...bySku].sort(([a], [b]) => compareNames(a, b));
  const groups = inOrderOfSkus.map(([sku, matched]) => {
    const sorted = inOrder(matched.sort(comparePlaces), orders.get(sku));
    return {
      sku,
      pictures: sorted.slice(0, MOST_PICTURES),
      tooMany: sorted.slice(MOST_PICTURES),
    };
  });
  return { groups, unmatched, leftOut };
}

/**
 * The assignment with only as many pictures of each product as fit besides the
 * images that it has.
 */
export function withinRoom(
  { groups, ...others }: Assignment,
  imagesOf: (sku: string) => number,
): Assignment {
  return {
    ...others,
    groups: groups.map(({ sku, pictures, tooMany }) => {
      const room = Math.max(0, MOST_PICTURES - imagesOf(sku));
      return {
        sku,
        pictures: pictures.slice(0, room),
        tooMany: [...pictures.slice(room), ...tooMany],
      };
    }),
  };
}

/** The pictures in the order of these keys; others follow. */
function inOrder<T extends Picture>(
  pictures: readonly T[],
  keys: readonly string[] = [],
): T[] {
  const rank = ({ key }: Picture) =>
    keys.includes(key) ? keys.indexOf(key) : keys.length;
  return pictures.toSorted((a, b) => rank(a) - rank(b));
}

/** The choices after a picture was moved forward by one place. */
export function movedForward(
  choices: Choices,
  { sku, pictures }: PictureGroup,
  { key }: Picture,
): Choices {
  const keys = pictures.map((one) => one.key);
  const at = keys.indexOf(key);
  if (at < 1) return choices;
  const order = keys.toSpliced(at, 1).toSpliced(at - 1, 0, key);
  return { ...choices, orders: new Map(choices.orders).set(sku, order) };
}

/** The choices after a picture was given to a product, or left out. */
export function assigned(
  choices: Choices,
  { key }: Picture,
  sku: string | null,
): Choices {
  return { ...choices, products: new Map(choices.products).set(key, sku) };
}

/** The pictures in all groups, in the order of sending. */
export function picturesIn({ groups }: Pick<Assignment, "groups">): Picture[] {
  return groups.flatMap(({ pictures }) => pictures);
}

/** The pictures that are large, and can be made smaller. */
export function largePictures(
  pictures: readonly Picture[],
  limit: number,
): Picture[] {
  return pictures.filter(({ file, type }) =>
    file.size > Math.min(LARGE_BYTES, limit) && isReducible(type)
  );
}

/**
 * The images of a product after its pictures are added: the existing ones stay
 * in front, or are replaced. A URL is listed once.
 */
export function imagesAfter(
  existing: readonly string[],
  added: readonly string[],
  mode: "keep" | "replace",
): string[] {
  const all = mode === "keep" ? [...existing, ...added] : added;
  const paths = new Set<string>();
  return all.filter((url) => {
    const path = pathOfImage(url);
    return !paths.has(path) && paths.add(path);
  }).slice(0, MOST_PICTURES);
}

const STORED_IMAGE = /^\/images\/[\da-f]{2}\/[\da-f]{64}\.\w{3,4}$/;

/** A stored image can be named with or without the service's host. */
function pathOfImage(url: string): string {
  const path = url.slice(Math.max(0, url.lastIndexOf("/images/")));
  return STORED_IMAGE.test(path) ? path : url;
}

/** Adds pictures; those that are there already are not added again. */
export function withPictures(
  pictures: readonly Picture[],
  added: readonly Omit<Picture, "key">[],
): Picture[] {
  const nameOf = ({ path, file }: Omit<Picture, "key">) =>
    `${path}\n${file.size}\n${file.lastModified}`;
  const known = new Set(pictures.map(nameOf));
  const fresh = added.filter((picture) => !known.has(nameOf(picture)));
  return [
    ...pictures,
    ...fresh.map((picture, i) => ({
      ...picture,
      key: `${pictures.length + i}`,
    })),
  ];
}

/** Adds files that are not sent; each path is listed once. */
export function withUnsent(
  before: readonly UnsentFile[],
  added: readonly UnsentFile[],
): UnsentFile[] {
  const all = [...before, ...added];
  return [...new Map(all.map((one) => [one.path, one])).values()];
}
