/** For the operator: all sellers, and a new one. */
import { useState } from "preact/hooks";
import type { Client } from "../client.ts";
import {
  count,
  ErrorNote,
  Moment,
  State,
  SureButton,
  Title,
  useAction,
} from "../parts.tsx";
import { ListFoot, type ListOf, useRows } from "../paging.tsx";
import { readSeller, type Seller } from "../resources.ts";
import { linkTo } from "../route.ts";
import { type Column, Table } from "../table.tsx";
import { find, flatDocument, textOf } from "../xml.ts";

export const SELLERS = "/operator_api/sellers";

const LIST: ListOf<Seller> = {
  path: SELLERS,
  list: "sellers",
  row: "seller",
  read: readSeller,
};

const COLUMNS: readonly Column<Seller>[] = [
  {
    label: "Name",
    look: "break",
    cell: ({ id, name }) => <a href={linkTo("sellers", id)}>{name}</a>,
  },
  { label: "State", cell: ({ status }) => <State of={status} /> },
  { label: "Products", right: true, cell: ({ products }) => count(products) },
  {
    label: "Last upload",
    cell: (seller) => <Moment iso={seller.lastUploadAt} />,
  },
  { label: "Keys", right: true, cell: ({ keys }) => count(keys) },
  { label: "Webhooks", right: true, cell: ({ webhooks }) => count(webhooks) },
  {
    label: "Failing",
    right: true,
    look: ({ failingWebhooks }) => failingWebhooks > 0 ? "bad" : "",
    cell: ({ failingWebhooks }) => count(failingWebhooks),
  },
  { label: "Added", cell: ({ createdAt }) => <Moment iso={createdAt} /> },
];

export function SellersView({ client }: { client: Client }) {
  const list = useRows(client, LIST);
  const columns: readonly Column<Seller>[] = [...COLUMNS, {
    label: "Change",
    cell: (seller) => (
      <StatusButton client={client} seller={seller} onChanged={list.reload} />
    ),
  }];
  return (
    <>
      <Title>Sellers</Title>
      {list.rows !== null && list.rows.length > 0 && (
        <Table
          label="Sellers"
          columns={columns}
          rows={list.rows}
          keyOf={({ id }) => id}
        />
      )}
      <ListFoot list={list} empty="There are no sellers yet." />
      <SellerForm client={client} onAdded={list.reload} />
    </>
  );
}

/** Suspends an active seller, or reactivates it. */
export function StatusButton({ client, seller: { id, status }, onChanged }: {
  client: Client;
  seller: Seller;
  onChanged: () => void;
}) {
  const { busy, error, run } = useAction();
  const set = (value: string) =>
    run(async () => {
      const path = `${SELLERS}/${id}/attribute/status/${value}`;
      await client.send(path, { method: "PUT" });
      onChanged();
    });
  if (error) return <ErrorNote error={error} />;
  return status === "active"
    ? (
      <SureButton
        label="Suspend"
        question="Refuse this seller's requests?"
        disabled={busy}
        onSure={() => set("suspended")}
      />
    )
    : (
      <button type="button" disabled={busy} onClick={() => set("active")}>
        Activate
      </button>
    );
}

/** Secrets that the service shows only once. */
export function NewSecrets({ title, secrets, onSeen }: {
  title: string;
  secrets: Readonly<Record<string, string>>;
  onSeen: () => void;
}) {
  return (
    <div class="note" role="status">
      <p>{title} This is not shown again.</p>
      <dl>
        {Object.entries(secrets).map(([name, secret]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="mono break">{secret}</dd>
          </div>
        ))}
      </dl>
      <p>
        <button type="button" onClick={onSeen}>I have stored it</button>
      </p>
    </div>
  );
}

/** A form with one text field. */
export function OneField({ id, label, button, required, onSend }: {
  id: string;
  label: string;
  button: string;
  required?: boolean;
  onSend: (text: string) => Promise<void>;
}) {
  const [text, setText] = useState("");
  const { busy, error, run } = useAction();
  const send = async () => {
    await onSend(text.trim());
    setText("");
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        run(send);
      }}
    >
      <div class="row">
        <span class="field grow">
          <label for={id}>{label}</label>
          <input
            id={id}
            class="grow"
            required={required}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </span>
        <button type="submit" class="main" disabled={busy}>{button}</button>
      </div>
      {error && <ErrorNote error={error} />}
    </form>
  );
}

function SellerForm({ client, onAdded }: {
  client: Client;
  onAdded: () => void;
}) {
  const [added, setAdded] = useState<Element | null>(null);
  const add = async (name: string) => {
    const body = flatDocument("seller", { name });
    const root = await client.read(SELLERS, { method: "POST", body });
    setAdded(find(root, "seller"));
    onAdded();
  };
  return (
    <section class="card">
      <h2>Add a seller</h2>
      <OneField
        id="seller-name"
        label="Name"
        button="Add"
        required
        onSend={add}
      />
      {added !== null && (
        <NewSecrets
          title={`Hand these to ${textOf(added, "name")}.`}
          secrets={{
            "API key": textOf(added, "api_key") ?? "",
            "Webhook secret": textOf(added, "webhook_secret") ?? "",
          }}
          onSeen={() => setAdded(null)}
        />
      )}
    </section>
  );
}
