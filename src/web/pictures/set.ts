/**
 * The assignment of chosen pictures to products: the product of each picture,
 * the order of a product's pictures, and the pictures that are left out.
 */
import { LISTS } from "../../catalogue/fields.ts";
import type { ImageType } from "../../images/image_types.ts";
import type { UnsentFile } from "./kinds.ts";
import {
  compareNames,
  comparePositions,
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

/** The user's decisions about pictures. */
export interface Choices {
  /** The chosen SKUs by the keys of pictures; null if a picture is left out. */
  products: ReadonlyMap<string, string | null>;
  /** The keys of a product's pictures in a chosen order, by SKU. */
  orders: ReadonlyMap<string, readonly string[]>;
}

export const NO_CHOICES: Choices = { products: new Map(), orders: new Map() };

/** The pictures of one product, in their order. */
export interface PictureGroup {
  sku: string;
  pictures: readonly Picture[];
  /** Pictures beyond the limit of a product. */
  tooMany: readonly Picture[];
}

/** A picture whose name matches no product, or several products. */
export interface UnmatchedPicture {
  picture: Picture;
  /** The SKUs that the name matches equally well. */
  skus: readonly string[];
}

export interface Assignment {
  groups: readonly PictureGroup[];
  unmatched: readonly UnmatchedPicture[];
  /** Pictures that the user has left out. */
  leftOut: readonly Picture[];
}

/** The maximum number of pictures of a product. */
export const PICTURES_PER_PRODUCT: number = LISTS.images.max;

/** The number of pictures that are assigned between two pauses. */
const PICTURES_PER_SLICE = 100;

/**
 * Assigns each picture to the product that matches its name or that the user has
 * chosen. With `only`, all pictures are assigned to the product `only`.
 */
export function* assignPictures(
  pictures: readonly Picture[],
  index: SkuIndex,
  { products, orders }: Choices,
  only: string | null = null,
): SlicedWork<Assignment> {
  const bySku = new Map<string, (Picture & PictureMatch)[]>();
  const unmatched: UnmatchedPicture[] = [];
  const leftOut: Picture[] = [];
  for (const [i, picture] of pictures.entries()) {
    if (i % PICTURES_PER_SLICE === PICTURES_PER_SLICE - 1) yield;
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
    const sorted = inOrder(matched.sort(comparePositions), orders.get(sku));
    return {
      sku,
      pictures: sorted.slice(0, PICTURES_PER_PRODUCT),
      tooMany: sorted.slice(PICTURES_PER_PRODUCT),
    };
  });
  return { groups, unmatched, leftOut };
}

/**
 * The assignment with fewer pictures of products that already have images, so
 * that no product exceeds the limit.
 */
export function withinImageLimit(
  { groups, ...others }: Assignment,
  imagesOf: (sku: string) => number,
): Assignment {
  return {
    ...others,
    groups: groups.map(({ sku, pictures, tooMany }) => {
      const remaining = Math.max(0, PICTURES_PER_PRODUCT - imagesOf(sku));
      return {
        sku,
        pictures: pictures.slice(0, remaining),
        tooMany: [...pictures.slice(remaining), ...tooMany],
      };
    }),
  };
}

/** Sorts pictures by the order of these keys; other pictures follow. */
function inOrder<T extends Picture>(
  pictures: readonly T[],
  keys: readonly string[] = [],
): T[] {
  const rank = ({ key }: Picture) =>
    keys.includes(key) ? keys.indexOf(key) : keys.length;
  return pictures.toSorted((a, b) => rank(a) - rank(b));
}

/** The choices after a picture was moved forward by one position. */
export function withPictureMovedForward(
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

/** The choices after a picture was assigned to a product, or left out. */
export function withChosenProduct(
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

/** The large pictures that can be shrunk. */
export function largePictures(
  pictures: readonly Picture[],
  limit: number,
): Picture[] {
  return pictures.filter(({ file, type }) =>
    file.size > Math.min(LARGE_BYTES, limit) && isReducible(type)
  );
}

/**
 * The images of a product after pictures were added. Existing images come first,
 * or are replaced. Each URL is listed once.
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
  }).slice(0, PICTURES_PER_PRODUCT);
}

const STORED_IMAGE = /^\/images\/[\da-f]{2}\/[\da-f]{64}\.\w{3,4}$/;

/** The same path for a stored image with and without the service's host. */
function pathOfImage(url: string): string {
  const path = url.slice(Math.max(0, url.lastIndexOf("/images/")));
  return STORED_IMAGE.test(path) ? path : url;
}

/** Adds pictures, except those that the list already contains. */
export function withPictures(
  pictures: readonly Picture[],
  added: readonly Omit<Picture, "key">[],
): Picture[] {
  const nameOf = ({ path, file }: Omit<Picture, "key">) =>
    `${path}\n${file.size}\n${file.lastModified}`;
  const knownNames = new Set(pictures.map(nameOf));
  const newPictures = added.filter((picture) =>
    !knownNames.has(nameOf(picture))
  );
  return [
    ...pictures,
    ...newPictures.map((picture, i) => ({
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
