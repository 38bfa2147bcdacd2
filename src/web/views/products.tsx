/** The seller's products, with a search. */
import { useState } from "preact/hooks";
import type { Client } from "../client.ts";
import { EDITABLE } from "../attributes.ts";
import { ListFoot, type ListOf, useRows } from "../paging.tsx";
import { count, Moment, State, Title } from "../parts.tsx";
import { type Product, readProduct } from "../resources.ts";
import { linkTo } from "../route.ts";
import { type Column, Table } from "../table.tsx";
import { Thumbnails } from "../thumbnails.tsx";

const STATUSES = EDITABLE.find(({ name }) => name === "status")?.words ?? [];

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
    cell: ({ fields, currency }) => `${fields.price} ${currency}`,
  },
  {
    label: "Quantity",
    right: true,
    cell: ({ fields }) =>
      fields.quantity ? count(Number(fields.quantity)) : "–",
  },
  {
    label: "Availability",
    cell: ({ fields }) => <State of={fields.availability ?? ""} />,
  },
  {
    label: "Status",
    cell: ({ fields }) => <State of={fields.status ?? ""} />,
  },
  { label: "Changed", cell: ({ updatedAt }) => <Moment iso={updatedAt} /> },
];

interface Search {
  q: string;
  status: string;
}

export function ProductsView({ client }: { client: Client }) {
  const [search, setSearch] = useState<Search>({ q: "", status: "" });
  const list = useRows(client, productsLike(search));
  return (
    <>
      <Title>Products</Title>
      <SearchForm busy={list.busy} onSearch={setSearch} />
      {list.rows !== null && list.rows.length > 0 && (
        <Table
          label="Products"
          columns={COLUMNS}
          rows={list.rows}
          keyOf={({ id }) => id}
        />
      )}
      <ListFoot
        list={list}
        empty={search.q || search.status
          ? "No product is like that."
          : "There are no products yet. Upload some."}
      />
    </>
  );
}

function productsLike({ q, status }: Search): ListOf<Product> {
  const query = new URLSearchParams({
    limit: "50",
    ...(q !== "" && { q }),
    ...(status !== "" && { status }),
  });
  return {
    path: `/seller_api/products?${query}`,
    list: "products",
    row: "product",
    read: readProduct,
  };
}

function SearchForm({ busy, onSearch }: {
  busy: boolean;
  onSearch: (search: Search) => void;
}) {
  const [q, setQ] = useState("");
  const [status, setStatus] = useState("");
  return (
    <form
      class="row"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch({ q: q.trim(), status });
      }}
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
          value={status}
          onChange={(event) => {
            setStatus(event.currentTarget.value);
            onSearch({ q: q.trim(), status: event.currentTarget.value });
          }}
        >
          <option value="">any</option>
          {STATUSES.map((word) => (
            <option key={word} value={word}>{word}</option>
          ))}
        </select>
      </span>
      <button type="submit" disabled={busy}>Search</button>
    </form>
  );
}
