/** The seller's products: search, filter and order are in the address. */
import { useLayoutEffect, useState } from "preact/hooks";
import { Changing } from "../changing.tsx";
import { STATUSES } from "../../catalogue/fields.ts";
import { REVIEW_STATES } from "../../reviews/review.ts";
import { saveFile } from "../browser.ts";
import { type FileKind, fileOf, productsOf } from "../catalogue_file.ts";
import type { Client, Product } from "../../client/mod.ts";
import { readable, stateWord } from "../words.ts";
import { ListFoot, useRows } from "../paging.tsx";
import {
  Await,
  count,
  ErrorNote,
  Form,
  Moment,
  money,
  State,
  Title,
  useLoaded,
} from "../parts.tsx";
import { goTo, linkTo, route } from "../route.ts";
import { useStore } from "../store.ts";
import { type Column, Table } from "../table.tsx";
import { Thumbnails } from "../thumbnails.tsx";

const COLUMNS: readonly Column<Product>[] = [
  {
    label: "Images",
    look: "bare",
    cell: ({ images }) => <Thumbnails images={images} />,
  },
  {
    label: "SKU",
    look: "mono sku",
    cell: ({ id, sku }) => <a href={linkTo("products", id)}>{sku}</a>,
  },
  { label: "Title", look: "fill bare", cell: ({ title }) => title },
  {
    label: "Price",
    right: true,
    cell: ({ price }) => price ? money(price.amount, price.currency) : "–",
  },
  {
    label: "Quantity",
    right: true,
    cell: ({ quantity }) => quantity == null ? "–" : count(quantity),
  },
  {
    label: "Availability",
    cell: ({ availability }) => <State of={availability ?? ""} />,
  },
  {
    label: "Status",
    cell: ({ status, review }) => (
      <>
        <State of={status ?? ""} />
        {review && <State of={review.state} />}
      </>
    ),
  },
  { label: "Changed", cell: ({ updated_at }) => <Moment iso={updated_at} /> },
];

/** Products of one page. */
const PAGE = 50;
/**
 * Products that are put in another order than the service's; the page has to
 * load all of them.
 */
const SORTED = 5_000;

interface Order {
  name: string;
  label: string;
  compare(a: Product, b: Product): number;
}

function byText(
  read: (product: Product) => string | undefined,
): Order["compare"] {
  return (a, b) =>
    (read(a) ?? "").localeCompare(read(b) ?? "", "en", { numeric: true });
}

function byNumber(
  read: (product: Product) => string | number | null | undefined,
): Order["compare"] {
  return (a, b) => Number(read(a) ?? 0) - Number(read(b) ?? 0);
}

const ORDERS: readonly Order[] = [
  { name: "title", label: "title", compare: byText(({ title }) => title) },
  { name: "sku", label: "SKU", compare: byText(({ sku }) => sku) },
  {
    name: "price",
    label: "lowest price",
    compare: byNumber(({ price }) => price?.amount),
  },
  {
    name: "quantity",
    label: "least stock",
    compare: byNumber(({ quantity }) => quantity),
  },
  {
    name: "changed",
    label: "last changed",
    compare: (a, b) => (a.updated_at ?? "") < (b.updated_at ?? "") ? 1 : -1,
  },
];

/** What the address says. */
interface Search {
  q: string;
  status: string;
  review: string;
  sort: string;
  /** A cursor, or in another order than the service's the number of the page. */
  after: string;
}

function searchOf(query: URLSearchParams): Search {
  const text = (name: string) => query.get(name) ?? "";
  return {
    q: text("q"),
    status: text("status"),
    review: text("review"),
    sort: text("sort"),
    after: text("after"),
  };
}

/** Opens the list with another search, at its first page unless told. */
function show(search: Partial<Search>): void {
  const now = searchOf(route.value.query);
  goTo("products", undefined, { ...now, after: "", ...search });
}

export function ProductsView({ client }: { client: Client }) {
  const search = searchOf(useStore(route).query);
  const order = ORDERS.find(({ name }) => name === search.sort);
  return (
    <>
      <div class="bar">
        <Title>Products</Title>
        <ExportMenu client={client} search={search} />
        <Changing>
          <a class="button" href={linkTo("new")}>New product</a>
        </Changing>
      </div>
      <SearchForm search={search} />
      {order === undefined
        ? <InSentOrder client={client} search={search} />
        : <InOrder client={client} search={search} order={order} />}
    </>
  );
}

/** Saves what the search finds as a file, which can be uploaded as it is. */
function ExportMenu({ client, search }: { client: Client; search: Search }) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const save = async (kind: FileKind) => {
    setBusy(true);
    setError(null);
    try {
      const { signal } = new AbortController();
      const products = await productsOf(client, queryOf(search, 250), signal);
      saveFile(await fileOf(products, kind), `products.${kind}`);
    } catch (problem) {
      setError(problem as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {error && <ErrorNote error={error} />}
      <select
        aria-label="Save the products as a file"
        disabled={isBusy}
        value=""
        onChange={(event) => save(event.currentTarget.value as FileKind)}
      >
        <option value="">{isBusy ? "Saving…" : "Save as a file…"}</option>
        <option value="csv">CSV</option>
        <option value="xlsx">Excel (.xlsx)</option>
        <option value="xml">XML</option>
      </select>
    </>
  );
}

/** Cursors of pages that were left by "Next", by the cursor that came then. */
const former = new Map<string, string>();

function InSentOrder({ client, search }: { client: Client; search: Search }) {
  const { after } = search;
  const query = queryOf(search, PAGE);
  const list = useRows(async (cursor = after || undefined, signal) => {
    const { products: rows, next } = await client
      .listProducts({ ...query, after: cursor }, { signal });
    return { rows, next };
  }, [client, JSON.stringify([query, after])]);
  const previous = former.get(after);
  return (
    <>
      <ProductTable rows={list.rows ?? []} />
      <ListFoot
        list={{ ...list, more: null }}
        empty={<Empty search={search} />}
      />
      <Pages
        previous={after === "" ? null : previous ?? ""}
        isFirst={previous === undefined}
        next={list.next ?? null}
        onNext={(next) => former.set(next, after)}
      />
    </>
  );
}

function InOrder({ client, search, order }: {
  client: Client;
  search: Search;
  order: Order;
}) {
  const { q, status, review, after } = search;
  const loaded = useLoaded(
    (signal) => firstOf(client, queryOf(search, 250), signal),
    [client, q, status, review],
  );
  const page = Number(after) || 0;
  return (
    <Await loaded={loaded}>
      {({ rows, isWhole }) => {
        const sorted = rows.toSorted(order.compare);
        const from = page * PAGE;
        return (
          <>
            {!isWhole && (
              <p class="note warn">
                Only the first {count(rows.length)}{" "}
                products are in this order. Search for fewer.
              </p>
            )}
            <ProductTable rows={sorted.slice(from, from + PAGE)} />
            {rows.length === 0 && <Empty search={search} />}
            <Pages
              previous={page === 0 ? null : page === 1 ? "" : `${page - 1}`}
              isFirst={page === 1}
              next={from + PAGE < rows.length ? `${page + 1}` : null}
            />
          </>
        );
      }}
    </Await>
  );
}

function ProductTable({ rows }: { rows: readonly Product[] }) {
  if (rows.length === 0) return null;
  return (
    <Table
      label="Products"
      columns={COLUMNS}
      rows={rows}
      keyOf={({ id }) => id}
    />
  );
}

function Empty({ search: { q, status, review } }: { search: Search }) {
  return q || status || review
    ? (
      <p class="quiet">
        No product is like that.{" "}
        <a href={linkTo("products")}>Show all products</a>
      </p>
    )
    : (
      <p class="quiet">
        There are no products yet.{" "}
        <Changing>
          <a href={linkTo("upload")}>Upload some</a> or{" "}
          <a href={linkTo("new")}>write one here</a>.
        </Changing>
      </p>
    );
}

function Pages({ previous, isFirst, next, onNext }: {
  /** What `after` is on the page before; null if this is the first one. */
  previous: string | null;
  isFirst: boolean;
  next: string | null;
  onNext?: (next: string) => void;
}) {
  if (previous === null && next === null) return null;
  const search = searchOf(route.value.query);
  const link = (after: string) =>
    linkTo("products", undefined, { ...search, after });
  return (
    <nav class="row" aria-label="Pages">
      {previous !== null && (
        <a class="button" href={link(previous)}>
          {isFirst ? "First page" : "Previous page"}
        </a>
      )}
      {next !== null && (
        <a
          class="button"
          href={link(next)}
          onClick={() => onNext?.(next)}
        >
          Next page
        </a>
      )}
    </nav>
  );
}

type Query = NonNullable<Parameters<Client["listProducts"]>[0]>;

function queryOf({ q, status, review }: Search, limit: number): Query {
  return {
    limit,
    q: q || undefined,
    status: STATUSES.find((word) => word === status),
    review: REVIEW_STATES.find((word) => word === review),
  };
}

/** The first products: all of them, or `SORTED`. */
async function firstOf(
  client: Client,
  query: Query,
  signal: AbortSignal,
): Promise<{ rows: Product[]; isWhole: boolean }> {
  const rows: Product[] = [];
  for await (const product of client.all.listProducts(query, { signal })) {
    if (rows.length === SORTED) return { rows, isWhole: false };
    rows.push(product);
  }
  return { rows, isWhole: true };
}

function SearchForm({ search }: { search: Search }) {
  const [q, setQ] = useState(search.q);
  // Before anything can be typed.
  useLayoutEffect(() => setQ(search.q), [search.q]);
  return (
    <Form
      class="row"
      role="search"
      onSubmit={() => show({ q: q.trim() })}
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
          onChange={(event) => show({ status: event.currentTarget.value })}
        >
          <option value="">any</option>
          {STATUSES.map((word) => (
            <option key={word} value={word}>{readable(word)}</option>
          ))}
        </select>
      </span>
      <span class="field">
        <label for="review">Review</label>
        <select
          id="review"
          value={search.review}
          onChange={(event) => show({ review: event.currentTarget.value })}
        >
          <option value="">any</option>
          {REVIEW_STATES.map((word) => (
            <option key={word} value={word}>{readable(stateWord(word))}</option>
          ))}
        </select>
      </span>
      <span class="field">
        <label for="sort">Order</label>
        <select
          id="sort"
          value={search.sort}
          onChange={(event) => show({ sort: event.currentTarget.value })}
        >
          <option value="">as uploaded</option>
          {ORDERS.map(({ name, label }) => (
            <option key={name} value={name}>{label}</option>
          ))}
        </select>
      </span>
      <button type="submit">Search</button>
    </Form>
  );
}
