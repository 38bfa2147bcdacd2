/** For the operator: one seller with its limits, keys and refusals. */
import { useState } from "preact/hooks";
import type { Client } from "../client.ts";
import {
  Await,
  bytes,
  count,
  ErrorNote,
  Figure,
  Moment,
  State,
  SureButton,
  Title,
  useAction,
  useLoaded,
} from "../parts.tsx";
import {
  type Key,
  readKey,
  readSeller,
  type Seller,
  SELLER_LIMITS,
  type SellerLimit,
} from "../resources.ts";
import { goTo, linkTo } from "../route.ts";
import { type Column, Table } from "../table.tsx";
import { childrenOf, find, flatDocument, textOf } from "../xml.ts";
import { Refusals } from "./refusals.tsx";
import { NewSecrets, OneField, SELLERS, StatusButton } from "./sellers.tsx";

export function SellerView({ client, id }: { client: Client; id: string }) {
  const loaded = useLoaded(
    (signal) => findSeller(client, id, signal),
    [client, id],
  );
  return (
    <>
      <p>
        <a href={linkTo("sellers")}>All sellers</a>
      </p>
      <Await loaded={loaded}>
        {(seller) => (
          <>
            <div class="bar">
              <Title>{seller.name}</Title>
              <State of={seller.status} />
              <StatusButton
                client={client}
                seller={seller}
                onChanged={loaded.reload}
              />
            </div>
            <Figures seller={seller} />
            <Limits
              client={client}
              seller={seller}
              onChanged={loaded.reload}
            />
            <Keys client={client} seller={seller} />
            <section>
              <h2>Refused requests</h2>
              <Refusals client={client} seller={seller.id} />
            </section>
            <Removal client={client} seller={seller} />
          </>
        )}
      </Await>
    </>
  );
}

/** Reads the list of sellers up to this one. */
async function findSeller(
  client: Client,
  id: string,
  signal: AbortSignal,
): Promise<Seller> {
  for (let after = ""; after !== null;) {
    const query = after === "" ? "" : `&after=${after}`;
    const root = await client.read(`${SELLERS}?limit=250${query}`, { signal });
    const list = find(root, "sellers");
    const sellers = childrenOf(list, "seller").map(readSeller);
    const found = sellers.find((seller) => seller.id === id);
    if (found !== undefined) return found;
    const next = textOf(root, "next") ?? textOf(list, "next");
    if (next === null) break;
    after = next;
  }
  throw new Error("There is no such seller.");
}

function Figures({ seller }: { seller: Seller }) {
  return (
    <dl class="figures card">
      <Figure label="products" value={count(seller.products)} />
      <Figure label="stored images" value={bytes(seller.imageBytes)} />
      <Figure label="webhooks" value={count(seller.webhooks)} />
      <div class="figure">
        <dt>last use of a key</dt>
        <dd>
          <Moment iso={seller.lastUsedAt} />
        </dd>
      </div>
    </dl>
  );
}

const LIMIT_LABELS: Readonly<Record<SellerLimit, string>> = {
  rate_limit: "Requests a minute",
  product_limit: "Products",
  image_quota: "Bytes of images",
};

function Limits({ client, seller, onChanged }: {
  client: Client;
  seller: Seller;
  onChanged: () => void;
}) {
  const { busy, error, run } = useAction();
  const [texts, setTexts] = useState<Partial<Record<SellerLimit, string>>>({});
  const shown = (name: SellerLimit) =>
    texts[name] ?? `${seller.limits[name] ?? ""}`;
  const save = async () => {
    for (const [name, text] of Object.entries(texts)) {
      const value = encodeURIComponent(text.trim());
      const path = `${SELLERS}/${seller.id}/attribute/${name}/${value}`;
      await client.send(path, { method: "PUT" });
    }
    setTexts({});
    onChanged();
  };
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        run(save);
      }}
    >
      <h2>Limits</h2>
      <div class="row">
        {SELLER_LIMITS.map((name) => (
          <span key={name} class="field">
            <label for={name}>{LIMIT_LABELS[name]}</label>
            <input
              id={name}
              inputMode="numeric"
              placeholder="default"
              value={shown(name)}
              onInput={(event) =>
                setTexts({ ...texts, [name]: event.currentTarget.value })}
            />
          </span>
        ))}
        <button type="submit" class="main" disabled={busy}>Save</button>
      </div>
      <p class="quiet">An empty limit is the default of the settings.</p>
      {error && <ErrorNote error={error} />}
    </form>
  );
}

const KEYS: readonly Column<Key>[] = [
  { label: "Label", look: "break", cell: ({ label }) => label ?? "–" },
  {
    label: "Begins with",
    look: "mono",
    cell: ({ prefix }) => prefix ?? "–",
  },
  { label: "Made", cell: ({ createdAt }) => <Moment iso={createdAt} /> },
  { label: "Last used", cell: ({ lastUsedAt }) => <Moment iso={lastUsedAt} /> },
  {
    label: "State",
    cell: ({ revokedAt }) => (
      <State of={revokedAt === null ? "active" : "revoked"} />
    ),
  },
];

function Keys({ client, seller: { id } }: { client: Client; seller: Seller }) {
  const path = `${SELLERS}/${id}/keys`;
  const [added, setAdded] = useState<string | null>(null);
  const loaded = useLoaded(async (signal) => {
    const root = await client.read(path, { signal });
    return childrenOf(find(root, "keys"), "key").map(readKey);
  }, [client, path]);
  const add = async (label: string) => {
    const body = flatDocument("key", { label });
    const root = await client.read(path, { method: "POST", body });
    setAdded(textOf(root, "key/api_key"));
    loaded.reload();
  };
  const columns: readonly Column<Key>[] = [...KEYS, {
    label: "Change",
    cell: (key) => (
      <RevokeButton client={client} apiKey={key} onRevoked={loaded.reload} />
    ),
  }];
  return (
    <section>
      <h2>Keys</h2>
      <Await loaded={loaded}>
        {(keys) => (
          <Table
            label="Keys"
            columns={columns}
            rows={keys}
            keyOf={({ id }) => id}
          />
        )}
      </Await>
      <OneField
        id="key-label"
        label="Label of a new key"
        button="Add a key"
        onSend={add}
      />
      {added !== null && (
        <NewSecrets
          title="The new key."
          secrets={{ "API key": added }}
          onSeen={() => setAdded(null)}
        />
      )}
    </section>
  );
}

function RevokeButton({ client, apiKey, onRevoked }: {
  client: Client;
  apiKey: Key;
  onRevoked: () => void;
}) {
  const { busy, error, run } = useAction();
  const revoke = async () => {
    const path = `/operator_api/keys/${apiKey.id}`;
    await client.send(path, { method: "DELETE" });
    onRevoked();
  };
  if (apiKey.revokedAt !== null) return null;
  return (
    <>
      <SureButton
        label="Revoke"
        question="Refuse this key from now on?"
        disabled={busy}
        onSure={() => run(revoke)}
      />
      {error && <ErrorNote error={error} />}
    </>
  );
}

/** Removes the seller once its name was typed. */
function Removal({ client, seller }: { client: Client; seller: Seller }) {
  const remove = async (name: string) => {
    if (name !== seller.name) {
      throw new Error(`This seller's name is ${seller.name}.`);
    }
    await client.send(`${SELLERS}/${seller.id}`, { method: "DELETE" });
    goTo("sellers");
  };
  return (
    <section class="card">
      <h2>Remove this seller</h2>
      <p class="quiet">
        With its products, uploads, webhooks, events and keys. This cannot be
        undone.
      </p>
      <OneField
        id="removed-name"
        label="Its name, to confirm"
        button="Remove"
        required
        onSend={remove}
      />
    </section>
  );
}
