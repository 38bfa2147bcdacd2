/**
 * Sample documents: one that is accepted, and one with every kind of mistake.
 */
import { DAY_MS, MINUTE_MS } from "../lib/durations.ts";
import { isoTime } from "../xml/encode.ts";

/**
 * A catalogue whose images are below `images`, the image host's URL. One sale
 * is on, one begins in a day, and one ends a minute after `now`.
 */
export function catalogue(images: string, now: number): string {
  const products = [
    product(1, "Mug, enamelled", "149.00", [`${images}/good/mug.png`], [
      sale("69.00", null, now + MINUTE_MS),
    ]),
    product(2, "Teapot", "399.00", [
      `${images}/good/teapot.jpg`,
      `${images}/good/teapot-side.webp`,
    ], [
      "<manufacturer>teahouse</manufacturer>",
      "<responsible_person>import agent</responsible_person>",
      "<safety_text>Hot when filled. Keep away from children.</safety_text>",
      sale("349.00", null, now + 7 * DAY_MS),
    ]),
    product(3, "Tea towel", "89.50", [
      `${images}/good/towel.gif`,
      `${images}/good/towel.avif`,
    ], [
      "<manufacturer>teahouse</manufacturer>",
      sale("69.50", now + DAY_MS, now + 8 * DAY_MS),
    ]),
    product(4, "Kettle (its image takes three seconds)", "599.00", [
      `${images}/slow/kettle.png`,
    ]),
    product(5, "Tray (its image host is down once)", "249.00", [
      `${images}/flaky/tray.png`,
    ]),
    product(6, "Coaster (its image is no image)", "29.00", [
      `${images}/broken/coaster.png`,
    ]),
    product(7, "Poster (its image is too large)", "199.00", [
      `${images}/oversized/poster.png`,
    ]),
    product(8, "Lamp (its image vanishes after the check)", "899.00", [
      `${images}/vanishing/lamp.png`,
    ]),
  ];
  return document(products);
}

/** A catalogue that is refused, with a detail for each mistake. */
export function refusedCatalogue(images: string): string {
  return document([
    product(1, "Mug, enamelled", "149,00", []),
    product(2, "Teapot", "399.00", [`${images}/missing/teapot.png`]),
    product(2, "Teapot, again", "399.00", [`${images}/redirect/teapot.png`]),
    "  <product><sku>TEA-4</sku><titel>Kettle</titel></product>",
  ]);
}

function document(products: readonly string[]): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    "<products>",
    ...products,
    "</products>",
    "",
  ].join("\n");
}

function product(
  number: number,
  title: string,
  price: string,
  images: readonly string[],
  more: readonly string[] = [],
): string {
  return [
    "  <product>",
    `    <sku>TEA-${number}</sku>`,
    `    <title>${title}</title>`,
    `    <price currency="SEK">${price}</price>`,
    `    <quantity>${number * 10}</quantity>`,
    "    <images>",
    ...images.map((url) => `      <image>${url}</image>`),
    "    </images>",
    ...more.map((element) => `    ${element}`),
    "  </product>",
  ].join("\n");
}

/** A sale between two times; if `from` is null, it begins at once. */
function sale(price: string, from: number | null, until: number): string {
  const begin = from === null ? "" : `<from>${isoTime(from)}</from>`;
  return `<sale><price>${price}</price>${begin}` +
    `<until>${isoTime(until)}</until></sale>`;
}
