/**
 * Sample documents: one that is accepted, and one with every kind of mistake.
 */

/** A catalogue whose images are below `images`, the image host's URL. */
export function catalogue(images: string): string {
  const products = [
    product(1, "Mug, enamelled", "149.00", [`${images}/good/mug.png`]),
    product(2, "Teapot", "399.00", [
      `${images}/good/teapot.jpg`,
      `${images}/good/teapot-side.webp`,
    ]),
    product(3, "Tea towel", "89.50", [
      `${images}/good/towel.gif`,
      `${images}/good/towel.avif`,
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
    "  </product>",
  ].join("\n");
}
