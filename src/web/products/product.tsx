/** The view of one product: a form, its images and its price history. */
import { useState } from "preact/hooks";
import { UnlessReadOnly } from "../ui/changing.tsx";
import type { Client, Product, ProductImage } from "../../client/mod.ts";
import {
  Announcer,
  ConfirmedButton,
  ErrorNote,
  LocalTime,
  State,
  Title,
  useAction,
  useLoaded,
  WhenLoaded,
} from "../ui/components.tsx";
import { goTo, linkTo } from "../state/route.ts";
import { fieldLabel } from "../lib/words.ts";
import { loadProduct, Thumbnail } from "../ui/thumbnails.tsx";
import { discardDraft } from "./unsaved.ts";
import { PriceHistory } from "./price_history.tsx";
import { ProductForm } from "./product_form.tsx";

export function ProductView({ client, id }: { client: Client; id: string }) {
  const loaded = useLoaded(
    (signal) => loadProduct(client, id, signal),
    [client, id],
  );
  const [saved, setSaved] = useState<string | null>(null);
  return (
    <>
      <p>
        <a href={linkTo("products")}>All products</a>
      </p>
      <div class="bar">
        <Title>{loaded.data?.title ?? "Product"}</Title>
        {loaded.data && (
          <UnlessReadOnly>
            <Deletion client={client} product={loaded.data} />
          </UnlessReadOnly>
        )}
      </div>
      {loaded.data?.review && <ReviewNote {...loaded.data.review} />}
      <Announcer text={saved === null ? "" : "The product is saved."} />
      {saved !== null && (
        <p class="note good">
          <span>
            Saved. <a href={linkTo("uploads", saved)}>See or undo the change</a>
          </span>
        </p>
      )}
      <WhenLoaded loaded={loaded}>
        {(product) => (
          <div class="form-beside" onInput={() => setSaved(null)}>
            <ProductForm
              client={client}
              product={product}
              onSaved={(transaction) => {
                setSaved(transaction);
                loaded.reload();
              }}
            />
            <Images product={product} />
            <PriceHistory client={client} product={product} />
          </div>
        )}
      </WhenLoaded>
    </>
  );
}

/** The operator's decision about the product. */
function ReviewNote(
  { state, code, field, message }: NonNullable<Product["review"]>,
) {
  if (state === "approved") return null;
  const reason = [message, field && fieldLabel(field), code].filter(Boolean);
  const about = reason.length === 0 ? "" : `: ${reason.join(", ")}`;
  return (
    <p class={`note ${state === "rejected" ? "bad" : "warn"}`}>
      {state === "rejected"
        ? `The marketplace rejected this product${about}. Correct it and save it; then it is reviewed again.`
        : `The marketplace has not yet reviewed this product. ${
          reason.length === 0 ? "" : `It was rejected before${about}.`
        }`}
    </p>
  );
}

export function NewProductView({ client }: { client: Client }) {
  return (
    <>
      <p>
        <a href={linkTo("products")}>All products</a>
      </p>
      <Title>New product</Title>
      <ProductForm
        client={client}
        product={null}
        onSaved={(transaction) => goTo("uploads", transaction)}
      />
    </>
  );
}

function Deletion({ client, product }: { client: Client; product: Product }) {
  const { busy, error, run } = useAction();
  const remove = async () => {
    await client.products.delete({ sku_or_id: product.id });
    discardDraft(product.id);
    goTo("products");
  };
  return (
    <>
      <ConfirmedButton
        label="Delete"
        question={`Delete ${product.sku} for good?`}
        disabled={busy}
        onConfirm={() => run(remove)}
      />
      {error && <ErrorNote error={error} />}
    </>
  );
}

function Images({ product }: { product: Product }) {
  const { images = [], created_at, updated_at, id } = product;
  return (
    <section class="card" aria-label="Images">
      <h2>Images</h2>
      {images.length === 0 && (
        <p class="quiet">
          There are no images. Drop pictures on this page, or add the URL of one
          in the form.
        </p>
      )}
      <ul class="gallery">
        {images.map((image) => <Picture key={image.url} image={image} />)}
      </ul>
      <p class="quiet">
        Changed <LocalTime iso={updated_at} />, created{" "}
        <LocalTime iso={created_at} />
      </p>
      <details class="facts">
        <summary>For a problem report</summary>
        product <code class="break">{id}</code>
      </details>
    </section>
  );
}

function Picture({ image }: { image: ProductImage }) {
  const { status, url, alt, message } = image;
  return (
    <li>
      <span class="frame">
        <Thumbnail image={image} size={96} />
      </span>
      <span>
        {status && <State state={status} />}
        <span class="mono break">{url}</span>
        {alt && <span>{alt}</span>}
        {message && <span class="bad">{message}</span>}
      </span>
    </li>
  );
}
