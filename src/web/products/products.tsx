/** The list of products. The address has the search, the filters and the order. */
import { IMPORT_PRODUCTS, PAGE_LIMIT } from "../../lib/request_limits.ts";
import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { UnlessReadOnly } from "../ui/changing.tsx";
import { ATTRIBUTES_LIMIT, STATUSES } from "../../catalogue/fields.ts";
import { REVIEW_STATES } from "../../catalogue/review.ts";
import { saveFile } from "../lib/browser.ts";
import type { FileKind } from "./catalogue_file.ts";
import type { Client, ListProductsQuery, Product } from "../../client/mod.ts";
import { readableName, stateLabel } from "../lib/texts.ts";
import { ListFoot, useRows } from "../ui/paging.tsx";
import {
  ErrorNote,
  Form,
  LocalTime,
  State,
  Title,
  useAction,
} from "../ui/components.tsx";
import { formatCount, plural } from "../lib/format.ts";
import { goTo, linkTo, route } from "../state/route.ts";
import { useStore } from "../lib/store.ts";
import { type Column, Table } from "../ui/table.tsx";
import { Thumbnails } from "../ui/thumbnails.tsx";
import { CurrentPrice } from "./sale.tsx";
import {
  type BulkResult,
  BulkResultNote,
  BulkTools,
  failedImages,
} from "./selection.tsx";

const COLUMNS: readonly Column<Product>[] = [
  {
    label: "Images",
    classes: "bare",
    cell: ({ images }) => <Thumbnails images={images} />,
  },
  {
    label: "SKU",
    classes: "mono sku",
    cell: ({ id, sku }) => <a href={linkTo("products", id)}>{sku}</a>,
  },
  { label: "Title", classes: "fill bare", cell: ({ title }) => title },
  {
    label: "Price",
    right: true,
    cell: (product) => <CurrentPrice product={product} />,
  },
  {
    label: "Quantity",
    right: true,
    cell: ({ quantity }) => quantity == null ? "–" : formatCount(quantity),
  },
  {
    label: "Availability",
    cell: ({ availability }) => <State state={availability ?? ""} />,
  },
  {
    label: "Status",
    cell: ({ status, review }) => (
      <>
        <State state={status ?? ""} />
        {review && <State state={review.state} />}
      </>
    ),
  },
  {
    label: "Changed",
    cell: ({ updated_at }) => <LocalTime iso={updated_at} />,
  },
];

/** The columns of a search for failed images. */
const FAILED_IMAGE_COLUMNS: readonly Column<Product>[] = [
  ...COLUMNS.filter(({ label }) => label === "SKU"),
  { label: "Title", classes: "bare", cell: ({ title }) => title },
  {
    label: "Failed images",
    classes: "fill bare",
    cell: (product) => (
      <div class="pictured">
        <ul>
          {failedImages(product).map(({ url, message }) => (
            <li key={url} class="failure">
              <span class="mono break">{url}</span>
              <span>{message}</span>
            </li>
          ))}
        </ul>
      </div>
    ),
  },
];

/** The number of products on a page. */
const PAGE_SIZE = 50;
/** The ways to sort the list, except by time of creation. */
const SORT_OPTIONS:
  readonly (Pick<ListProductsQuery, "sort" | "order"> & { label: string })[] = [
    { sort: "title", label: "title" },
    { sort: "sku", label: "SKU" },
    { sort: "price", label: "lowest price" },
    { sort: "quantity", label: "least stock" },
    { sort: "updated_at", order: "desc", label: "last changed" },
  ];

/** The search, filters, order and page in the address. */
interface Search {
  q: string;
  status: string;
  review: string;
  images: string;
  sort: string;
  after: string;
}

function searchFromAddress(query: URLSearchParams): Search {
  const text = (name: string) => query.get(name) ?? "";
  return {
    q: text("q"),
    status: text("status"),
    review: text("review"),
    images: text("images"),
    sort: text("sort"),
    after: text("after"),
  };
}

/** Changes the search in the address; without `after`, opens the first page. */
function goToSearch(search: Partial<Search>): void {
  const current = searchFromAddress(route.value.query);
  goTo("products", undefined, { ...current, after: "", ...search });
}

export function ProductsView({ client }: { client: Client }) {
  const search = searchFromAddress(useStore(route).query);
  const { q, status, review, images } = search;
  return (
    <SearchResult
      key={JSON.stringify([q, status, review, images])}
      client={client}
      search={search}
    />
  );
}

/** The first `limit` products that a query finds. */
async function fetchProducts(
  client: Client,
  query: ListProductsQuery,
  limit: number,
  signal?: AbortSignal,
): Promise<Product[]> {
  const found: Product[] = [];
  for await (const product of client.products.list(query, { signal })) {
    if (found.push(product) === limit) break;
  }
  return found;
}

/** The selected products by id. */
type Selection = ReadonlyMap<string, Product>;

/** The result of a search; its selection is kept when the page or order changes. */
function SearchResult({ client, search }: { client: Client; search: Search }) {
  const [selection, setSelection] = useState<Selection>(new Map());
  const [result, setResult] = useState<BulkResult | null>(null);
  const [version, setVersion] = useState(0);
  const selected = useMemo(() => [...selection.values()], [selection]);
  const select = (next: Selection) => {
    setSelection(next);
    setResult(null);
  };
  return (
    <>
      <div class="bar">
        <Title>Products</Title>
        <ExportMenu client={client} search={search} selected={selected} />
        <UnlessReadOnly>
          <a class="button" href={linkTo("new")}>New product</a>
        </UnlessReadOnly>
      </div>
      <SearchForm search={search} />
      {result && <BulkResultNote result={result} />}
      {selected.length > 0 && (
        <UnlessReadOnly>
          <BulkTools
            client={client}
            products={selected}
            onDone={(result) => {
              select(new Map());
              setResult(result);
              setVersion(version + 1);
            }}
          />
        </UnlessReadOnly>
      )}
      <ProductPage
        client={client}
        search={search}
        version={version}
        selection={selection}
        onSelect={select}
      />
    </>
  );
}

/** A menu that saves products as a file that the seller can upload again. */
function ExportMenu({ client, search, selected }: {
  client: Client;
  search: Search;
  /**
   * The products to save; if empty, the first `IMPORT_PRODUCTS` products that
   * the search finds.
   */
  selected: readonly Product[];
}) {
  const { busy, error, run } = useAction();
  const [isTruncated, setTruncated] = useState(false);
  const save = (kind: FileKind) =>
    run(async () => {
      const products = selected.length > 0 ? selected : await fetchProducts(
        client,
        filtersOf(search, PAGE_LIMIT.maximum),
        IMPORT_PRODUCTS,
      );
      setTruncated(products.length === IMPORT_PRODUCTS);
      const { catalogueFile } = await import("./catalogue_file.ts");
      saveFile(await catalogueFile(products, kind), `products.${kind}`);
    });
  return (
    <>
      {error && <ErrorNote error={error} />}
      {isTruncated && (
        <p class="note warn">
          The file has the first {formatCount(IMPORT_PRODUCTS)}{" "}
          products, which is the limit of one import. Narrow the search.
        </p>
      )}
      <select
        aria-label="Save the products as a file"
        disabled={busy}
        value=""
        onChange={(event) => save(event.currentTarget.value as FileKind)}
      >
        <option value="">
          {busy
            ? "Saving…"
            : selected.length > 0
            ? `Save ${formatCount(selected.length)} as a file…`
            : "Save as a file…"}
        </option>
        <option value="csv">CSV</option>
        <option value="xlsx">Excel (.xlsx)</option>
        <option value="xml">XML</option>
      </select>
    </>
  );
}

/**
 * Selects the products of the page, or the products that the search finds, up to
 * `ATTRIBUTES_LIMIT`.
 */
function SelectionBar({ client, search, rows, selection, onSelect }:
  & ListProps
  & { rows: readonly Product[] }) {
  const { busy, error, run } = useAction();
  const isPageSelected = rows.every(({ id }) => selection.has(id));
  const isFull = selection.size === ATTRIBUTES_LIMIT;
  const selectAll = () =>
    run(async () => {
      const found = await fetchProducts(
        client,
        filtersOf(search, PAGE_LIMIT.maximum),
        ATTRIBUTES_LIMIT,
      );
      onSelect(selectionOf(found));
    });
  return (
    <div class="row">
      <label class="row">
        <input
          type="checkbox"
          checked={isPageSelected}
          onChange={() => {
            const next = new Map(selection);
            for (const product of rows) {
              if (isPageSelected) next.delete(product.id);
              else if (next.size < ATTRIBUTES_LIMIT) {
                next.set(
                  product.id,
                  product,
                );
              }
            }
            onSelect(next);
          }}
        />
        Select these {formatCount(rows.length)}
      </label>
      <button type="button" class="small" disabled={busy} onClick={selectAll}>
        {busy ? "Selecting…" : "Select all results"}
      </button>
      {selection.size > 0 && (
        <>
          <strong role="status">
            {plural(selection.size, "product")} selected
            {isFull && ", the maximum"}
          </strong>
          <button
            type="button"
            class="small"
            onClick={() => onSelect(new Map())}
          >
            Select none
          </button>
        </>
      )}
      {error && <ErrorNote error={error} />}
    </div>
  );
}

function selectionOf(products: readonly Product[]): Selection {
  return new Map(products.map((product) => [product.id, product]));
}

interface ListProps {
  client: Client;
  search: Search;
  selection: Selection;
  onSelect: (next: Selection) => void;
}

/** Maps the cursor of each page to the cursor of the page before. */
const previousCursors = new Map<string, string>();

function ProductPage(
  props: ListProps & {
    /** Increases when products have changed, so that the page is reloaded. */
    version: number;
  },
) {
  const { client, search, version } = props;
  const { after } = search;
  const query = { ...filtersOf(search, PAGE_SIZE), ...sortOf(search) };
  const list = useRows(async (cursor = after || undefined, signal) => {
    const { products: rows, next } = await client
      .products.list({ ...query, after: cursor }, { signal });
    return { rows, next };
  }, [client, JSON.stringify([query, after]), version]);
  return (
    <>
      <ProductTable {...props} rows={list.rows ?? []} />
      <ListFoot
        list={{ ...list, more: null }}
        empty={<NoProducts search={search} />}
      />
      <PageLinks after={after} next={list.next ?? null} />
    </>
  );
}

function ProductTable(props: ListProps & { rows: readonly Product[] }) {
  const { search, rows, selection, onSelect } = props;
  if (rows.length === 0) return null;
  const selectColumn: Column<Product> = {
    label: "Select",
    cell: (product) => (
      <input
        type="checkbox"
        aria-label={`Select ${product.sku}`}
        checked={selection.has(product.id)}
        disabled={selection.size === ATTRIBUTES_LIMIT &&
          !selection.has(product.id)}
        onChange={(event) => {
          const next = new Map(selection);
          if (event.currentTarget.checked) next.set(product.id, product);
          else next.delete(product.id);
          onSelect(next);
        }}
      />
    ),
  };
  const columns = search.images === "failed" ? FAILED_IMAGE_COLUMNS : COLUMNS;
  return (
    <>
      <SelectionBar {...props} />
      <Table
        label="Products"
        columns={[selectColumn, ...columns]}
        rows={rows}
        keyOf={({ id }) => id}
      />
    </>
  );
}

function NoProducts(
  { search: { q, status, review, images } }: { search: Search },
) {
  return q || status || review || images
    ? (
      <p class="quiet">
        No product matches. <a href={linkTo("products")}>Show all products</a>
      </p>
    )
    : (
      <p class="quiet">
        There are no products yet.{" "}
        <UnlessReadOnly>
          <a href={linkTo("upload")}>Upload some</a> or{" "}
          <a href={linkTo("new")}>create one here</a>.
        </UnlessReadOnly>
      </p>
    );
}

/** `next` is the cursor of the next page; null on the last page. */
function PageLinks({ after, next }: { after: string; next: string | null }) {
  if (after === "" && next === null) return null;
  const search = searchFromAddress(route.value.query);
  const link = (after: string) =>
    linkTo("products", undefined, { ...search, after });
  const previous = previousCursors.get(after);
  return (
    <nav class="row" aria-label="Pages">
      {after !== "" && (
        <a class="button" href={link(previous ?? "")}>
          {previous === undefined ? "First page" : "Previous page"}
        </a>
      )}
      {next !== null && (
        <a
          class="button"
          href={link(next)}
          onClick={() => previousCursors.set(next, after)}
        >
          Next page
        </a>
      )}
    </nav>
  );
}

function sortOf({ sort }: Search): Pick<ListProductsQuery, "sort" | "order"> {
  const found = SORT_OPTIONS.find((one) => one.sort === sort);
  return { sort: found?.sort, order: found?.order };
}

function filtersOf(
  { q, status, review, images }: Search,
  limit: number,
): ListProductsQuery {
  return {
    limit,
    q: q || undefined,
    status: STATUSES.find((word) => word === status),
    review: REVIEW_STATES.find((word) => word === review),
    images: IMAGE_STATES.find((word) => word === images),
  };
}

const IMAGE_STATES = ["failed", "pending", "stored"] as const;

function SearchForm({ search }: { search: Search }) {
  const [q, setQ] = useState(search.q);
  // A layout effect runs before the user can type, so it overwrites no input.
  useLayoutEffect(() => setQ(search.q), [search.q]);
  return (
    <Form
      class="row"
      role="search"
      onSubmit={() => goToSearch({ q: q.trim() })}
    >
      <span class="field grow">
        <label for="q">SKU or title</label>
        <input
          id="q"
          type="search"
          class="grow"
          value={q}
          onInput={(event) => setQ(event.currentTarget.value)}
        />
      </span>
      <span class="field">
        <label for="status">Status</label>
        <select
          id="status"
          value={search.status}
          onChange={(event) =>
            goToSearch({ status: event.currentTarget.value })}
        >
          <option value="">any</option>
          {STATUSES.map((word) => (
            <option key={word} value={word}>{readableName(word)}</option>
          ))}
        </select>
      </span>
      <span class="field">
        <label for="review">Review</label>
        <select
          id="review"
          value={search.review}
          onChange={(event) =>
            goToSearch({ review: event.currentTarget.value })}
        >
          <option value="">any</option>
          {REVIEW_STATES.map((word) => (
            <option key={word} value={word}>
              {readableName(stateLabel(word))}
            </option>
          ))}
        </select>
      </span>
      <span class="field">
        <label for="images">Images</label>
        <select
          id="images"
          value={search.images}
          onChange={(event) =>
            goToSearch({ images: event.currentTarget.value })}
        >
          <option value="">any</option>
          {IMAGE_STATES.map((word) => (
            <option key={word} value={word}>
              {readableName(stateLabel(word))}
            </option>
          ))}
        </select>
      </span>
      <span class="field">
        <label for="sort">Order</label>
        <select
          id="sort"
          value={search.sort}
          onChange={(event) => goToSearch({ sort: event.currentTarget.value })}
        >
          <option value="">as uploaded</option>
          {SORT_OPTIONS.map(({ sort, label }) => (
            <option key={sort} value={sort}>{label}</option>
          ))}
        </select>
      </span>
      <button type="submit">Search</button>
    </Form>
  );
}
