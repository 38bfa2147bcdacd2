/** The operator's view of all sellers, with a form for a new seller. */
import { useState } from "preact/hooks";
import type { NewSeller, OperatorClient, Seller } from "../../client/mod.ts";
import {
  ConfirmedButton,
  ErrorNote,
  Form,
  LocalTime,
  NewSecrets,
  State,
  Title,
  useAction,
} from "../ui/components.tsx";
import { formatCount } from "../lib/format.ts";
import { ListFoot, useRows } from "../ui/paging.tsx";
import { linkTo } from "../state/route.ts";
import { type Column, Table } from "../ui/table.tsx";

const COLUMNS: readonly Column<Seller>[] = [
  {
    label: "Name",
    classes: "break",
    cell: ({ id, name }) => <a href={linkTo("sellers", id)}>{name}</a>,
  },
  { label: "State", cell: ({ status }) => <State state={status} /> },
  {
    label: "Products",
    right: true,
    cell: ({ products }) => formatCount(products),
  },
  {
    label: "Last upload",
    cell: (seller) => <LocalTime iso={seller.last_upload_at} />,
  },
  { label: "Keys", right: true, cell: ({ keys }) => formatCount(keys) },
  {
    label: "Webhooks",
    right: true,
    cell: ({ webhooks }) => formatCount(webhooks),
  },
  {
    label: "Failing",
    right: true,
    classes: ({ failing_webhooks }) => failing_webhooks > 0 ? "bad" : "",
    cell: ({ failing_webhooks }) => formatCount(failing_webhooks),
  },
  { label: "Added", cell: ({ created_at }) => <LocalTime iso={created_at} /> },
];

export function SellersView({ client }: { client: OperatorClient }) {
  const list = useRows(async (after, signal) => {
    const { sellers: rows, next } = await client
      .sellers.list({ after }, { signal });
    return { rows, next };
  }, [client]);
  const columns: readonly Column<Seller>[] = [...COLUMNS, {
    label: "View",
    cell: ({ name }) => <ViewLink name={name} />,
  }, {
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

/** A link to the views of the seller. */
export function ViewLink({ name }: { name: string }) {
  return <a href={linkTo("uploads", undefined, {}, name)}>View as {name}</a>;
}

/** Suspends an active seller, or reactivates it. */
export function StatusButton({ client, seller: { id, status }, onChanged }: {
  client: OperatorClient;
  seller: Seller;
  onChanged: () => void;
}) {
  const { busy, error, run } = useAction();
  const set = (value: string) =>
    run(async () => {
      await client.sellers.setAttribute({
        seller: id,
        seller_attribute: "status",
        value,
      });
      onChanged();
    });
  return (
    <>
      {status === "active"
        ? (
          <ConfirmedButton
            label="Suspend"
            question="Refuse this seller's requests?"
            disabled={busy}
            onConfirm={() => set("suspended")}
          />
        )
        : (
          <button type="button" disabled={busy} onClick={() => set("active")}>
            Activate
          </button>
        )}
      {error && <ErrorNote error={error} />}
    </>
  );
}

/** A form with one text field. */
export function OneFieldForm({ id, label, button, required, onSend }: {
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
    <Form
      onSubmit={() => run(send)}
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
    </Form>
  );
}

function SellerForm({ client, onAdded }: {
  client: OperatorClient;
  onAdded: () => void;
}) {
  const [added, setAdded] = useState<NewSeller | null>(null);
  const add = async (name: string) => {
    setAdded((await client.sellers.create({ seller: { name } })).seller);
    onAdded();
  };
  return (
    <section class="card">
      <h2>Add a seller</h2>
      <OneFieldForm
        id="seller-name"
        label="Name"
        button="Add"
        required
        onSend={add}
      />
      {added !== null && (
        <NewSecrets
          title={`Give these to ${added.name}.`}
          secrets={{
            "API key": added.api_key,
            "Webhook secret": added.webhook_secret,
          }}
          onSeen={() => setAdded(null)}
        />
      )}
    </section>
  );
}
