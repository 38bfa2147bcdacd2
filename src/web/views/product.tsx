/** One product: its data, a form to change attributes, and its deletion. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Client } from "../client.ts";
import { EDITABLE, type EditableAttribute } from "../attributes.ts";
import {
  Announcer,
  Await,
  ErrorNote,
  Moment,
  State,
  SureButton,
  Title,
  useAction,
  useLoaded,
} from "../parts.tsx";
import type { Product, ProductImage } from "../resources.ts";
import { goTo, linkTo } from "../route.ts";
import { loadProduct, Thumbnail } from "../thumbnails.tsx";

export function ProductView({ client, id }: { client: Client; id: string }) {
  const loaded = useLoaded(
    (signal) => loadProduct(client, id, signal),
    [client, id],
  );
  const [changed, setChanged] = useState("");
  return (
    <>
      <p>
        <a href={linkTo("products")}>All products</a>
      </p>
      <div class="bar">
        <Title>{loaded.data?.title ?? "Product"}</Title>
        {loaded.data && <Deletion client={client} product={loaded.data} />}
      </div>
      <Announcer text={changed} />
      <Await loaded={loaded}>
        {(product) => (
          <div class="halves">
            <section class="card" aria-label="Fields">
              <dl class="fields">
                {EDITABLE.map((field) => (
                  <FieldRow
                    key={field.name}
                    client={client}
                    product={product}
                    field={field}
                    onChanged={() => {
                      setChanged(`${field.label} is changed.`);
                      loaded.reload();
                    }}
                  />
                ))}
                <Fixed product={product} />
              </dl>
            </section>
            <Images images={product.images} />
          </div>
        )}
      </Await>
    </>
  );
}

function Deletion({ client, product }: { client: Client; product: Product }) {
  const { busy, error, run } = useAction();
  const remove = async () => {
    const path = `/seller_api/products/${encodeURIComponent(product.id)}`;
    await client.send(path, { method: "DELETE" });
    goTo("products");
  };
  return (
    <>
      <SureButton
        label="Delete"
        question={`Delete ${product.sku} for good?`}
        disabled={busy}
        onSure={() => run(remove)}
      />
      {error && <ErrorNote error={error} />}
    </>
  );
}

interface FieldProps {
  client: Client;
  product: Product;
  field: EditableAttribute;
  onChanged: () => void;
}

function FieldRow({ client, product, field, onChanged }: FieldProps) {
  const [editing, setEditing] = useState(false);
  const change = useRef<HTMLButtonElement>(null);
  const [left, setLeft] = useState(false);
  const value = product.fields[field.name] ?? "";
  const unit = field.name === "price" ? product.currency : field.unit ?? "";
  useEffect(() => {
    if (left) change.current?.focus();
    setLeft(false);
  }, [left]);
  const leave = () => {
    setEditing(false);
    setLeft(true);
  };
  return (
    <div>
      <dt id={`field-${field.name}`}>{field.label}</dt>
      {editing
        ? (
          <dd>
            <FieldForm
              client={client}
              product={product}
              field={field}
              onCancel={leave}
              onChanged={() => {
                leave();
                onChanged();
              }}
            />
          </dd>
        )
        : (
          <dd class="row">
            <span class="grow break">
              {value === "" ? <span class="quiet">–</span> : `${value} ${unit}`}
            </span>
            <button
              ref={change}
              type="button"
              class="small"
              aria-label={`Change ${field.label}`}
              onClick={() => setEditing(true)}
            >
              Change
            </button>
          </dd>
        )}
    </div>
  );
}

function FieldForm(
  { client, product, field, onCancel, onChanged }: FieldProps & {
    onCancel: () => void;
  },
) {
  const [value, setValue] = useState(product.fields[field.name] ?? "");
  const { busy, error, run } = useAction();
  const control = useRef<HTMLElement>(null);
  useEffect(() => control.current?.focus(), []);
  const save = async () => {
    await client.send(
      `/seller_api/products/${encodeURIComponent(product.id)}/attribute/` +
        `${field.name}/${encodeURIComponent(value.trim())}`,
      { method: "PUT" },
    );
    onChanged();
  };
  const common = {
    ref: control as { current: null },
    class: "grow",
    value,
    required: !field.clears,
    "aria-labelledby": `field-${field.name}`,
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        run(save);
      }}
      onKeyDown={(event) => event.key === "Escape" && onCancel()}
    >
      <div class="row">
        {field.words === undefined
          ? (
            <input
              {...common}
              type={(field.input === "date" ? "date" : "text") as "text"}
              inputMode={field.input === "date" ? undefined : field.input}
              autocomplete="off"
              onInput={(event) => setValue(event.currentTarget.value)}
            />
          )
          : (
            <select
              {...common}
              onChange={(event) => setValue(event.currentTarget.value)}
            >
              {field.words.map((word) => (
                <option key={word} value={word}>
                  {word.replaceAll("_", " ")}
                </option>
              ))}
            </select>
          )}
        <button type="submit" class="main small" disabled={busy}>Save</button>
        <button type="button" class="small" onClick={onCancel}>Cancel</button>
      </div>
      {error && <ErrorNote error={error} />}
    </form>
  );
}

/** Data that only an upload can change. */
function Fixed({ product }: { product: Product }) {
  const { fields, categories, attributes } = product;
  return (
    <>
      {fields.description && (
        <div>
          <dt>Description</dt>
          <dd class="verbatim" tabIndex={0}>{fields.description}</dd>
        </div>
      )}
      {fields.parent_sku && (
        <div>
          <dt>Parent SKU</dt>
          <dd class="mono">{fields.parent_sku}</dd>
        </div>
      )}
      {categories.length > 0 && (
        <div>
          <dt>Categories</dt>
          <dd>{categories.map((text) => <p key={text}>{text}</p>)}</dd>
        </div>
      )}
      {attributes.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="break">{value}</dd>
        </div>
      ))}
      <div>
        <dt>Id</dt>
        <dd class="mono break">{product.id}</dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>
          <Moment iso={product.createdAt} />
        </dd>
      </div>
      <div>
        <dt>Changed</dt>
        <dd>
          <Moment iso={product.updatedAt} />
        </dd>
      </div>
    </>
  );
}

function Images({ images }: { images: readonly ProductImage[] }) {
  return (
    <section class="card" aria-label="Images">
      <h2>Images</h2>
      {images.length === 0 && <p class="quiet">There are none.</p>}
      <ul class="gallery">
        {images.map((image) => (
          <li key={image.url}>
            <span class="frame">
              <Thumbnail image={image} size={96} />
            </span>
            <span>
              {image.status && <State of={image.status} />}
              <span class="mono break">{image.url}</span>
              {image.alt && <span>{image.alt}</span>}
              {image.message && (
                <span class="bad">
                  {image.message} {image.code && <code>{image.code}</code>}
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
