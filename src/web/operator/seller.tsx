/**
 * The operator's view of one seller: limits, keys, deliveries and refusals.
 */
import { useState } from "preact/hooks";
import type { OperatorClient, Seller } from "../../client/mod.ts";
import {
  ErrorNote,
  Figure,
  Form,
  LocalTime,
  State,
  Title,
  useAction,
  useLoaded,
  WhenLoaded,
} from "../ui/components.tsx";
import { formatBytes, formatCount } from "../lib/format.ts";
import { goTo, linkTo } from "../state/route.ts";
import {
  REVIEW_POLICIES,
  type ReviewPolicy,
} from "../../sellers/review_policy.ts";
import {
  LIMIT_NAMES,
  type LimitName,
  SELLER_LIMITS,
  type SellerLimit,
} from "../../sellers/limits.ts";
import { KeyList } from "../keys/keys.tsx";
import { RefusalList } from "../uploads/refusals.tsx";
import { SellerDeliveries } from "./seller_deliveries.tsx";
import { OneFieldForm, StatusButton, ViewLink } from "./sellers.tsx";

export function SellerView(
  { client, id }: { client: OperatorClient; id: string },
) {
  const loaded = useLoaded(
    (signal) => loadSeller(client, id, signal),
    [client, id],
  );
  return (
    <>
      <p>
        <a href={linkTo("sellers")}>All sellers</a>
      </p>
      <WhenLoaded loaded={loaded}>
        {(seller) => (
          <>
            <div class="bar">
              <Title>{seller.name}</Title>
              <State state={seller.status} />
              <ViewLink name={seller.name} />
              <StatusButton
                client={client}
                seller={seller}
                onChanged={loaded.reload}
              />
            </div>
            <SellerFigures seller={seller} />
            <SellerSettings
              client={client}
              seller={seller}
              onChanged={loaded.reload}
            />
            <SellerKeys client={client} seller={seller} />
            <SellerDeliveries client={client} seller={seller} />
            <section>
              <h2>Refused requests</h2>
              <p>
                <a
                  href={linkTo("refusals", undefined, { seller: seller.name })}
                >
                  Find refusals by time, code or SKU
                </a>
              </p>
              <RefusalList client={client} filter={{ seller: seller.id }} />
            </section>
            <SellerRemoval client={client} seller={seller} />
          </>
        )}
      </WhenLoaded>
    </>
  );
}

/** The seller with this id; throws if there is none. */
async function loadSeller(
  client: OperatorClient,
  id: string,
  signal: AbortSignal,
): Promise<Seller> {
  const { sellers } = await client.sellers.list({ seller: id }, { signal });
  return sellers[0];
}

/** The placeholder that says what an empty limit means. */
function placeholderOf(name: LimitName): string {
  const { unset = "default" }: SellerLimit = SELLER_LIMITS[name];
  return unset;
}

function SellerFigures({ seller }: { seller: Seller }) {
  return (
    <dl class="figures card">
      <Figure label="products" value={formatCount(seller.products)} />
      <Figure label="stored images" value={formatBytes(seller.image_bytes)} />
      <Figure
        label="documents of imports"
        value={formatBytes(seller.import_bytes)}
      />
      <Figure label="webhooks" value={formatCount(seller.webhooks)} />
      <div class="figure">
        <dt>last use of a key</dt>
        <dd>
          <LocalTime iso={seller.last_used_at} />
        </dd>
      </div>
    </dl>
  );
}

type SettingName = LimitName | "email" | "review";

function SellerSettings({ client, seller, onChanged }: {
  client: OperatorClient;
  seller: Seller;
  onChanged: () => void;
}) {
  const { busy, error, run } = useAction();
  const [texts, setTexts] = useState<Partial<Record<SettingName, string>>>({});
  const field = (name: SettingName) => ({
    id: name,
    value: texts[name] ?? `${seller[name] ?? ""}`,
    onInput: (
      { currentTarget: { value } }: { currentTarget: { value: string } },
    ) => setTexts({ ...texts, [name]: value }),
  });
  const save = async () => {
    for (const seller_attribute of Object.keys(texts) as SettingName[]) {
      const value = texts[seller_attribute]!.trim();
      const change = { seller: seller.id, seller_attribute, value };
      await client.sellers.setAttribute(change);
    }
    setTexts({});
    onChanged();
  };
  return (
    <Form
      class="card"
      onSubmit={() => run(save)}
    >
      <h2>Settings</h2>
      <div class="row">
        {LIMIT_NAMES.map((name) => (
          <span key={name} class="field">
            <label for={name}>{SELLER_LIMITS[name].label}</label>
            <input
              {...field(name)}
              inputMode="numeric"
              placeholder={placeholderOf(name)}
            />
          </span>
        ))}
        <span class="field">
          <label for="review">Review</label>
          <select {...field("review")}>
            {REVIEW_POLICIES.map((policy) => (
              <option key={policy} value={policy}>
                {POLICY_LABELS[policy]}
              </option>
            ))}
          </select>
        </span>
        <span class="field grow">
          <label for="email">Mail address for notices</label>
          <input {...field("email")} placeholder="none" />
        </span>
        <button type="submit" class="main" disabled={busy}>Save</button>
      </div>
      <p class="quiet">
        The grey text in an empty field says what applies: “default” is the
        service’s setting, “any” is no limit.
        {seller.unsubscribed_at && (
          <>
            {" "}The seller unsubscribed from mails on{" "}
            <LocalTime iso={seller.unsubscribed_at} />.
          </>
        )}
      </p>
      {error && <ErrorNote error={error} />}
    </Form>
  );
}

const POLICY_LABELS: Readonly<Record<ReviewPolicy, string>> = {
  none: "none",
  new: "new products",
  changes: "new and changed products",
};

function SellerKeys({ client, seller: { id: seller } }: {
  client: OperatorClient;
  seller: Seller;
}) {
  return (
    <section>
      <h2>Keys</h2>
      <KeyList
        owner={seller}
        actions={{
          list: (signal) => client.keys.list({ seller }, { signal }),
          add: (key) => client.keys.create({ seller, key }),
          revoke: (key_id) => client.keys.revoke({ key_id }),
        }}
      />
    </section>
  );
}

/** A form that removes the seller after the operator has typed the name. */
function SellerRemoval(
  { client, seller }: { client: OperatorClient; seller: Seller },
) {
  const remove = async (name: string) => {
    if (name !== seller.name) {
      throw new Error(`This seller's name is ${seller.name}.`);
    }
    await client.sellers.delete({ seller: seller.id });
    goTo("sellers");
  };
  return (
    <section class="card">
      <h2>Remove this seller</h2>
      <p class="quiet">
        This deletes the seller’s products, uploads, webhooks, events and keys.
        The deletion cannot be undone.
      </p>
      <OneFieldForm
        id="removed-name"
        label="To confirm, type the seller’s name"
        button="Remove"
        required
        onSend={remove}
      />
    </section>
  );
}
