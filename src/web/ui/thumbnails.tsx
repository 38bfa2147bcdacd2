/** Thumbnails of stored product images. */
import {
  ApiError,
  type Client,
  type Product,
  type ProductImage,
} from "../../client/mod.ts";
import { useLoaded } from "./components.tsx";

/** The maximum number of images in a row of thumbnails. */
const THUMBNAILS_SHOWN = 4;

/** Requests one product. */
export async function loadProduct(
  client: Client,
  sku_or_id: string,
  signal?: AbortSignal,
): Promise<Product> {
  return (await client.products.get({ sku_or_id }, { signal })).product;
}

/** Whether a stored product has the SKU. */
export async function skuExists(client: Client, sku: string): Promise<boolean> {
  try {
    return (await loadProduct(client, sku)).sku === sku;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

/** The title and the images of the product with this id. */
export function ProductTitle({ client, id, reloadKey }: {
  client: Client;
  id: string;
  /** The state of the finished downloads; a change reloads the product. */
  reloadKey: string | null;
}) {
  const { data } = useLoaded(
    (signal) => loadProduct(client, id, signal),
    [client, id, reloadKey],
  );
  return data && (
    <>
      <span class="grow">{data.title}</span>
      {reloadKey !== null && <Thumbnails images={data.images} />}
    </>
  );
}

/** A row of thumbnails. */
export function Thumbnails(
  { images = [] }: { images?: readonly ProductImage[] },
) {
  const stored = images.filter(({ href }) => href !== undefined);
  if (stored.length === 0) return null;
  return (
    <span class="thumbnails">
      {stored.slice(0, THUMBNAILS_SHOWN).map((image) => (
        <Thumbnail key={image.href} image={image} />
      ))}
      {stored.length > THUMBNAILS_SHOWN && (
        <span class="quiet">+{stored.length - THUMBNAILS_SHOWN}</span>
      )}
    </span>
  );
}

/** One stored image, linked to its full size. */
export function Thumbnail({ image, size = 40 }: {
  image: ProductImage;
  size?: number;
}) {
  const { href, alt } = image;
  if (href === undefined) return null;
  return (
    <a href={href} target="_blank" rel="noopener">
      <img
        src={href}
        alt={alt || "image"}
        width={size}
        height={size}
        loading="lazy"
        decoding="async"
      />
    </a>
  );
}
