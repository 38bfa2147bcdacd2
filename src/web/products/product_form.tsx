/** The form of a product. Its inputs are generated from the table of fields. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { UnlessReadOnly } from "../ui/changing.tsx";
import {
  LIST_NAMES,
  type ListField,
  LISTS,
  SALE,
  SALE_ELEMENTS,
  type SaleElement,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
} from "../../catalogue/fields.ts";
import {
  ApiError,
  type Client,
  type Detail,
  type Product,
} from "../../client/mod.ts";
import {
  changedFieldsOf,
  conflictingFields,
  describeChanges,
  type Draft,
  draftOfProduct,
  fieldProblem,
  type ListItem,
  priceQuestionOfDraft,
  productToSend,
  rebaseDraft,
  saleProblem,
  withoutSale,
} from "./draft.ts";
import { fieldLabel } from "../lib/words.ts";
import { capitalised, readableName } from "../lib/texts.ts";
import { uploadName } from "../state/names.ts";
import { ErrorNote, Form, useAction } from "../ui/components.tsx";
import { ContactChoice } from "../ui/contact_choice.tsx";
import { CategorySuggestions } from "../ui/category_names.tsx";
import { CategoryRequirements } from "./category_rules.tsx";
import { viewedSeller } from "../state/route.ts";
import { loadProduct, skuExists } from "../ui/thumbnails.tsx";
import { FormPictures } from "./form_pictures.tsx";
import { SALE_LABELS } from "./sale.tsx";
import { discardDraft, keepDraft, unsavedDraft } from "./unsaved.ts";

/** The labels of the inputs for a list item's text and note. */
const ITEM_LABELS: Readonly<
  Record<ListField, { text: string; note?: string }>
> = {
  categories: { text: "Category" },
  attributes: { text: "Value", note: "Name" },
  images: { text: "Address", note: "Description" },
};

const SKU_TAKEN: Detail = {
  field: "sku",
  code: "sku_taken",
  message:
    "Another of your products has this SKU. Choose another SKU, or edit " +
    "that product in the list of products.",
};

export function ProductForm({ client, product, onSaved }: {
  client: Client;
  /** Null for a new product. */
  product: Product | null;
  /** Called with the id of the upload that saved the product. */
  onSaved: (transaction: string, sku: string) => void;
}) {
  const id = product?.id ?? null;
  const [base, setBase] = useState(() =>
    unsavedDraft(id)?.base ?? draftOfProduct(product)
  );
  const [draft, setDraft] = useState<Draft>(() =>
    unsavedDraft(id)?.draft ?? base
  );
  const [serviceProblems, setServiceProblems] = useState<readonly Detail[]>([]);
  /** Fields that the user has edited and somebody else has changed. */
  const [conflicts, setConflicts] = useState<readonly string[]>([]);
  /** The question about the price that the last attempt to save has shown. */
  const [shownQuestion, setShownQuestion] = useState<string | null>(null);
  /** The price that the service has refused because it changes too much. */
  const [refusedPrice, setRefusedPrice] = useState<string | null>(null);
  const { busy, error, run } = useAction();
  /** Merges stored values into the draft; returns the conflicting fields. */
  const mergeStored = (stored: Draft): readonly string[] => {
    const conflicting = conflictingFields(draft, base, stored);
    setConflicts(conflicting);
    setDraft((latest) => rebaseDraft(latest, base, stored));
    setBase(stored);
    return conflicting;
  };
  // The stored product may differ from the sent one: quantity 0 makes a product
  // out of stock. A layout effect runs before the user can type more.
  useLayoutEffect(() => {
    if (product !== null) mergeStored(draftOfProduct(product));
  }, [product]);
  const changedFields = changedFieldsOf(draft, base);
  useLayoutEffect(() => {
    if (changedFields.length > 0) keepDraft(id, { base, draft });
    else discardDraft(id);
  }, [base, draft]);
  const invalidFields = changedFields.filter((name) =>
    name === SALE ? saleProblem(draft) !== null : name in SCALAR_RULES &&
      fieldProblem(name as ScalarField, draft.scalars[name as ScalarField]) !==
        null
  );
  const priceQuestion = priceQuestionOfDraft(draft, base);
  /** The draft merged with the stored product; null if they are in conflict. */
  const mergedDraft = async ({ id }: Product): Promise<Draft | null> => {
    const stored = draftOfProduct(await loadProduct(client, id));
    return mergeStored(stored).length > 0
      ? null
      : rebaseDraft(draft, base, stored);
  };
  const save = async () => {
    setServiceProblems([]);
    setShownQuestion(priceQuestion);
    if (priceQuestion !== shownQuestion && priceQuestion !== null) return;
    const current = product === null ? draft : await mergedDraft(product);
    if (current === null) return;
    const sku = current.scalars.sku.trim();
    // An upload with this SKU would change a stored product.
    if (product === null && await skuExists(client, sku)) {
      return setServiceProblems([SKU_TAKEN]);
    }
    try {
      const { price } = current.scalars;
      const expected = price === refusedPrice ? base.scalars.price : undefined;
      const id = product?.id ?? null;
      const sent = productToSend(id, current, changedFields, expected);
      const name = product === null
        ? `New ${sku}`
        : `Edit of ${sku}: ${describeChanges(current, base, changedFields)}`;
      const { transaction_id } = await client.uploads.create({
        products: [sent],
        name: uploadName(name),
      });
      setBase(current);
      setRefusedPrice(null);
      discardDraft(id);
      onSaved(transaction_id, sku);
    } catch (failure) {
      if (failure instanceof ApiError) {
        setServiceProblems(failure.details);
        if (failure.details.some(({ code }) => code === "price_jump")) {
          setRefusedPrice(current.scalars.price);
        }
      }
      throw failure;
    }
  };
  const setScalar = (name: ScalarField, text: string) =>
    setDraft((latest) => ({
      ...latest,
      scalars: { ...latest.scalars, [name]: text },
    }));
  const setList = (name: ListField, items: readonly ListItem[]) =>
    setDraft((latest) => ({
      ...latest,
      lists: { ...latest.lists, [name]: items },
    }));
  return (
    <Form
      class="card product"
      noValidate
      onSubmit={() => run(save)}
    >
      <fieldset class="plain" disabled={viewedSeller() !== null}>
        <div class="pairs">
          {SCALAR_NAMES.map((name) => (
            <ScalarInput
              key={name}
              client={client}
              name={name}
              draft={draft}
              isNew={product === null}
              problem={serviceMessage(name, serviceProblems) ??
                (changedFields.includes(name)
                  ? fieldProblem(name, draft.scalars[name])
                  : null)}
              onText={(text) => setScalar(name, text)}
              onCurrency={(currency) =>
                setDraft((latest) => ({ ...latest, currency }))}
            />
          ))}
        </div>
        <SaleFields
          draft={draft}
          problem={serviceMessage(SALE, serviceProblems) ??
            (changedFields.includes(SALE) ? saleProblem(draft) : null)}
          onText={(element, text) =>
            setDraft((latest) => ({
              ...latest,
              sale: { ...latest.sale, [element]: text },
            }))}
          onEnd={() => setDraft(withoutSale)}
        />
        {LIST_NAMES.map((name) => (
          <ListInput
            key={name}
            name={name}
            items={draft.lists[name]}
            problem={serviceMessage(name, serviceProblems)}
            onItems={(items) => setList(name, items)}
            suggestions={name === "categories"
              ? (id, text) => (
                <CategorySuggestions client={client} id={id} text={text} />
              )
              : undefined}
          />
        ))}
        <UnlessReadOnly>
          <FormPictures
            client={client}
            images={draft.lists.images}
            onImages={(items) => setList("images", items)}
          />
        </UnlessReadOnly>
        <CategoryRequirements
          client={client}
          names={draft.lists.categories.map(({ text }) => text)}
          attributes={draft.lists.attributes}
          onAdd={(attribute) =>
            setList("attributes", [
              ...draft.lists.attributes,
              { text: "", note: attribute },
            ])}
        />
      </fieldset>
      {error && <ErrorNote error={error} />}
      {priceQuestion !== null && priceQuestion === shownQuestion && (
        <p class="note warn" role="alert">
          {capitalised(priceQuestion)}{" "}
          Nothing is saved yet. To save this price, choose “Save” again.
        </p>
      )}
      {refusedPrice !== null && refusedPrice === draft.scalars.price && (
        <p class="note warn" role="alert">
          The price changes by more than your limit for one change. Nothing is
          saved yet. If the price is correct, choose “Save” again.
        </p>
      )}
      {conflicts.length > 0 && (
        <p class="note warn" role="alert">
          Nothing is saved yet, because somebody else has changed these fields:
          {" "}
          {conflicts.map(fieldLabel).join(", ")}. “Save” saves your values;
          “Discard the changes” shows the stored values.
        </p>
      )}
      <UnlessReadOnly>
        <p class="row">
          <button
            type="submit"
            class="main"
            disabled={busy || changedFields.length === 0 ||
              invalidFields.length > 0}
          >
            {product === null ? "Create the product" : "Save"}
          </button>
          {changedFields.length > 0 && (
            <button
              type="button"
              onClick={() => {
                setDraft(base);
                setServiceProblems([]);
                setConflicts([]);
              }}
            >
              Discard the changes
            </button>
          )}
          <span class="quiet" role="status">
            {changedFields.length === 0
              ? ""
              : `Changed: ${changedFields.map(fieldLabel).join(", ")}`}
          </span>
        </p>
      </UnlessReadOnly>
    </Form>
  );
}

/** The service's message about a field; null if there is none. */
function serviceMessage(
  name: string,
  serviceProblems: readonly Detail[],
): string | null {
  return serviceProblems.find(({ field }) =>
    field?.split(/[^a-z_]/, 1)[0] === name
  )
    ?.message ?? null;
}

interface FieldProps {
  client: Client;
  name: ScalarField;
  draft: Draft;
  isNew: boolean;
  problem: string | null;
  onText: (text: string) => void;
  onCurrency: (currency: string) => void;
}

function ScalarInput(props: FieldProps) {
  const { name, draft, isNew, problem, onCurrency } = props;
  const { label, unit, required, form } = SCALAR_RULES[name];
  const id = `field-${name}`;
  return (
    <div class={form.kind === "text" ? "pair whole" : "pair"}>
      <label for={id}>
        {label}
        {required && isNew && " (required)"}
      </label>
      <span class="row">
        <InputControl {...props} id={id} />
        {unit?.column === "currency" && (
          <input
            aria-label="Currency"
            size={4}
            maxLength={3}
            placeholder={unit.example}
            value={draft.currency}
            onInput={(event) =>
              onCurrency(event.currentTarget.value.toUpperCase())}
          />
        )}
        {unit !== undefined && unit.column === undefined && (
          <span class="quiet">{unit.example}</span>
        )}
      </span>
      {problem && <p class="bad" id={`${id}-problem`} role="alert">{problem}
      </p>}
    </div>
  );
}

function InputControl(
  { client, name, draft, problem, onText, id }: FieldProps & { id: string },
): ComponentChildren {
  const { form, clears, contact } = SCALAR_RULES[name];
  const common = {
    id,
    class: "grow",
    value: draft.scalars[name],
    "aria-invalid": problem !== null,
    "aria-describedby": problem === null ? undefined : `${id}-problem`,
  };
  if (contact) {
    return <ContactChoice client={client} common={common} onText={onText} />;
  }
  if (form.kind === "word") {
    return (
      <select
        {...common}
        onChange={(event) => onText(event.currentTarget.value)}
      >
        {(clears || draft.scalars[name] === "") && (
          <option value="">– not set –</option>
        )}
        {form.words.map((word) => (
          <option key={word} value={word}>{readableName(word)}</option>
        ))}
      </select>
    );
  }
  if (form.kind === "text") {
    return (
      <textarea
        {...common}
        rows={5}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    );
  }
  const isNumber = form.kind === "integer" || form.kind === "digits";
  return (
    <input
      {...common}
      type={(form.kind === "date" ? "date" : "text") as "text"}
      inputMode={isNumber
        ? "numeric"
        : form.kind === "decimal"
        ? "decimal"
        : undefined}
      autocomplete="off"
      onInput={(event) => onText(event.currentTarget.value)}
    />
  );
}

function SaleFields({ draft: { sale, currency }, problem, onText, onEnd }: {
  draft: Draft;
  problem: string | null;
  onText: (element: SaleElement, text: string) => void;
  onEnd: () => void;
}) {
  return (
    <fieldset>
      <legend>{fieldLabel(SALE)}</legend>
      {problem && <p class="bad" role="alert">{problem}</p>}
      <div class="pairs">
        {SALE_ELEMENTS.map((element) => (
          <div key={element} class="pair">
            <label for={`sale-${element}`}>{SALE_LABELS[element]}</label>
            <span class="row">
              <input
                id={`sale-${element}`}
                class="grow"
                type={(element === "price"
                  ? "text"
                  : "datetime-local") as "text"}
                inputMode={element === "price" ? "decimal" : undefined}
                step={element === "price" ? undefined : "any"}
                autocomplete="off"
                value={sale[element]}
                onInput={(event) => onText(element, event.currentTarget.value)}
              />
              {element === "price" && <span class="quiet">{currency}</span>}
            </span>
          </div>
        ))}
      </div>
      {SALE_ELEMENTS.some((element) => sale[element] !== "") && (
        <p>
          <button type="button" class="small" onClick={onEnd}>
            No sale
          </button>
        </p>
      )}
    </fieldset>
  );
}

function ListInput({ name, items, problem, onItems, suggestions }: {
  name: ListField;
  items: readonly ListItem[];
  problem: string | null;
  onItems: (items: readonly ListItem[]) => void;
  /** Renders a `<datalist>` of suggestions for the typed text. */
  suggestions?: (id: string, text: string) => ComponentChildren;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  const listId = `${name}-suggestions`;
  const { text, note } = ITEM_LABELS[name];
  const { max, item: element } = LISTS[name];
  const change = (index: number, changes: Partial<ListItem>) =>
    onItems(
      items.map((item, i) => i === index ? { ...item, ...changes } : item),
    );
  const remove = (index: number) =>
    onItems(items.filter((_, i) => i !== index));
  const moveUp = (index: number) =>
    onItems(
      items.map((item, i) =>
        i === index - 1 ? items[index] : i === index ? items[index - 1] : item
      ),
    );
  return (
    <fieldset>
      <legend>{fieldLabel(name)}</legend>
      {problem && <p class="bad" role="alert">{problem}</p>}
      {typed !== null && suggestions?.(listId, typed)}
      {items.map((item, i) => (
        <div key={i} class="row">
          {note !== undefined && (
            <input
              aria-label={`${note} of ${element} ${i + 1}`}
              placeholder={note}
              class="note-of"
              value={item.note}
              onInput={(event) =>
                change(i, { note: event.currentTarget.value })}
            />
          )}
          <input
            aria-label={`${text} of ${element} ${i + 1}`}
            placeholder={text}
            class="grow"
            value={item.text}
            list={suggestions && listId}
            onFocus={() => setTyped(item.text)}
            onInput={({ currentTarget: { value } }) => {
              setTyped(value);
              change(i, { text: value });
            }}
          />
          {i > 0 && (
            <button
              type="button"
              class="small"
              aria-label={`Move ${element} ${i + 1} up`}
              onClick={() => moveUp(i)}
            >
              ↑
            </button>
          )}
          <button
            type="button"
            class="small"
            aria-label={`Remove ${element} ${i + 1}`}
            onClick={() => remove(i)}
          >
            Remove
          </button>
        </div>
      ))}
      {items.length < max && (
        <p>
          <button
            type="button"
            class="small"
            onClick={() => onItems([...items, { text: "", note: "" }])}
          >
            Add {/^[aeiou]/.test(element) ? "an" : "a"} {element}
          </button>
        </p>
      )}
    </fieldset>
  );
}
