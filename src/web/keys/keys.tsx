/** The list of a seller's keys, for the seller and for the operator. */
import { useState } from "preact/hooks";
import type {
  AddOwnKeyInput,
  Client,
  NewKey,
  SellerKey,
} from "../../client/mod.ts";
import { SCOPES } from "../../sellers/scopes.ts";
import {
  ConfirmedButton,
  ErrorNote,
  Form,
  LocalTime,
  NewSecrets,
  State,
  Title,
  useAction,
  useLoaded,
  WhenLoaded,
} from "../ui/components.tsx";
import { now } from "../lib/browser.ts";
import { replaceKey } from "../state/session.ts";
import { type Column, Table } from "../ui/table.tsx";

type KeyDocument = Exclude<
  AddOwnKeyInput["key"],
  string
>;

/** The requests of the list, which differ for a seller and an operator. */
interface KeyActions {
  list(signal: AbortSignal): Promise<{ keys: SellerKey[] }>;
  add(key: KeyDocument): Promise<{ key: NewKey }>;
  revoke(keyId: string): Promise<unknown>;
  /** Missing for the operator, because only sellers rotate keys. */
  rotate?(keyId: string): Promise<{ key: NewKey }>;
}

/** The seller's view of the seller's keys. */
export function KeysView({ client }: { client: Client }) {
  return (
    <>
      <Title>Keys</Title>
      <p class="quiet">
        Give each program its own key, with only the scopes that the program
        needs. After a rotation, the former key is valid for 24 more hours.
      </p>
      <KeyList
        owner={client}
        actions={{
          list: (signal) => client.keys.list({ signal }),
          add: (key) => client.keys.create({ key }),
          revoke: (key_id) => client.keys.revoke({ key_id }),
          rotate: (key_id) => client.keys.rotate({ key_id }),
        }}
      />
    </>
  );
}

const COLUMNS: readonly Column<SellerKey>[] = [
  {
    label: "Label",
    classes: "break",
    cell: ({ label, current }) => (
      <>
        {label || "–"} {current && <small class="quiet">this session</small>}
      </>
    ),
  },
  {
    label: "Begins with",
    classes: "mono",
    cell: ({ prefix }) => prefix || "–",
  },
  { label: "Scopes", cell: ({ scopes }) => scopes.join(", ") },
  {
    label: "Networks",
    classes: "break",
    cell: ({ networks }) => networks.join(", ") || "everywhere",
  },
  {
    label: "Created",
    cell: ({ created_at }) => <LocalTime iso={created_at} />,
  },
  {
    label: "Last used",
    cell: ({ last_used_at }) => <LocalTime iso={last_used_at} />,
  },
  {
    label: "Expires",
    cell: ({ expires_at }) => <LocalTime iso={expires_at} />,
  },
  { label: "State", cell: (key) => <State state={stateOf(key)} /> },
];

function stateOf({ revoked_at, expires_at }: SellerKey): string {
  if (revoked_at !== null) return "revoked";
  const hasExpired = expires_at !== null && Date.parse(expires_at) <= now();
  return hasExpired ? "ended" : "active";
}

/** A list of keys with buttons; reloaded when `owner` changes. */
export function KeyList({ owner, actions }: {
  owner: unknown;
  actions: KeyActions;
}) {
  const [added, setAdded] = useState<string | null>(null);
  const loaded = useLoaded(
    async (signal) => (await actions.list(signal)).keys,
    [owner],
  );
  const show = (key: NewKey) => {
    setAdded(key.api_key);
    loaded.reload();
  };
  const columns: readonly Column<SellerKey>[] = [...COLUMNS, {
    label: "Change",
    cell: (key) => (
      <KeyButtons
        apiKey={key}
        actions={actions}
        onChanged={loaded.reload}
        onAdded={show}
      />
    ),
  }];
  return (
    <>
      <WhenLoaded loaded={loaded}>
        {(keys) => (
          <Table
            label="Keys"
            columns={columns}
            rows={keys}
            keyOf={({ key_id }) => key_id}
          />
        )}
      </WhenLoaded>
      {added !== null && (
        <NewSecrets
          title="The new key."
          secrets={{ "API key": added }}
          onSeen={() => setAdded(null)}
        />
      )}
      <KeyForm
        onSend={async (key) => show((await actions.add(key)).key)}
      />
    </>
  );
}

function KeyButtons({ apiKey, actions, onChanged, onAdded }: {
  apiKey: SellerKey;
  actions: KeyActions;
  onChanged: () => void;
  onAdded: (key: NewKey) => void;
}) {
  const { busy, error, run } = useAction();
  if (stateOf(apiKey) !== "active") return null;
  const { key_id, current } = apiKey;
  const rotate = async () => {
    const { key } = await actions.rotate!(key_id);
    if (current) replaceKey(key.api_key);
    onAdded(key);
  };
  const revoke = async () => {
    await actions.revoke(key_id);
    onChanged();
  };
  return (
    <>
      {actions.rotate && (
        <ConfirmedButton
          label="Rotate"
          question="Create a new key, and end this one in 24 hours?"
          disabled={busy}
          onConfirm={() => run(rotate)}
        />
      )}{" "}
      <ConfirmedButton
        label="Revoke"
        question="Revoke this key now?"
        disabled={busy}
        onConfirm={() => run(revoke)}
      />
      {error && <ErrorNote error={error} />}
    </>
  );
}

function KeyForm({ onSend }: { onSend: (key: KeyDocument) => Promise<void> }) {
  const { busy, error, run } = useAction();
  const [label, setLabel] = useState("");
  const [scopes, setScopes] = useState<readonly string[]>([]);
  const [networks, setNetworks] = useState("");
  const [expiry, setExpiry] = useState("");
  const chosen = SCOPES.filter((scope) => scopes.includes(scope));
  const networkList = networks.split(/[\s,]+/).filter(Boolean);
  const send = async () => {
    await onSend({
      label: label.trim(),
      ...(chosen.length > 0 && { scopes: chosen }),
      ...(networkList.length > 0 && { networks: networkList }),
      ...(expiry !== "" && { expires_at: new Date(expiry).toISOString() }),
    });
    setLabel("");
  };
  return (
    <Form class="card" onSubmit={() => run(send)}>
      <h2>Add a key</h2>
      <div class="row">
        <Field id="key-label" label="Label of a new key">
          <input
            id="key-label"
            value={label}
            onInput={(event) => setLabel(event.currentTarget.value)}
          />
        </Field>
        <Field id="key-networks" label="Only from these networks">
          <input
            id="key-networks"
            placeholder="192.0.2.0/28, 2001:db8::/32"
            value={networks}
            onInput={(event) => setNetworks(event.currentTarget.value)}
          />
        </Field>
        <Field id="key-end" label="Until">
          <input
            id="key-end"
            type="datetime-local"
            value={expiry}
            onInput={(event) => setExpiry(event.currentTarget.value)}
          />
        </Field>
      </div>
      <fieldset>
        <legend>Scopes (if you choose none: all that you may give)</legend>
        <div class="row">
          {SCOPES.map((scope) => (
            <label key={scope}>
              <input
                type="checkbox"
                checked={scopes.includes(scope)}
                onChange={() =>
                  setScopes(
                    scopes.includes(scope)
                      ? scopes.filter((one) => one !== scope)
                      : [...scopes, scope],
                  )}
              />{" "}
              {scope}
            </label>
          ))}
        </div>
      </fieldset>
      <p>
        <button type="submit" class="main" disabled={busy}>Add a key</button>
      </p>
      {error && <ErrorNote error={error} />}
    </Form>
  );
}

function Field({ id, label, children }: {
  id: string;
  label: string;
  children: preact.ComponentChildren;
}) {
  return (
    <span class="field grow">
      <label for={id}>{label}</label>
      {children}
    </span>
  );
}
