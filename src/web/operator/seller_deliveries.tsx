/**
 * The operator's view of one seller's deliveries. The filter is in the address.
 */
import type {
  LoggedDelivery,
  OperatorClient,
  Seller,
} from "../../client/mod.ts";
import { ListFoot, useRows } from "../ui/paging.tsx";
import { HandbookLink, LocalTime, State } from "../ui/components.tsx";
import { goTo, linkTo, route } from "../state/route.ts";
import { useStore } from "../lib/store.ts";
import { type Column, Table } from "../ui/table.tsx";
import { readableName, stateLabel } from "../lib/texts.ts";
import {
  attemptOutcome,
  AttemptTable,
  DeliveryIds,
  describeNextAttempt,
} from "../webhooks/deliveries.tsx";

type DeliveryState = LoggedDelivery["state"];

/** The states of the filter; those that need an action come first. */
const STATES = Object.keys(
  {
    exhausted: 0,
    held: 0,
    retrying: 0,
    pending: 0,
    sending: 0,
    delivered: 0,
    cancelled: 0,
  } satisfies Record<DeliveryState, 0>,
) as DeliveryState[];

const COLUMNS: readonly Column<LoggedDelivery>[] = [
  {
    label: "When",
    cell: ({ created_at }) => <LocalTime iso={created_at} exact />,
  },
  { label: "Trigger", classes: "mono", cell: ({ trigger }) => trigger },
  {
    label: "Reference",
    classes: "mono break",
    cell: ({ reference }) => reference ?? <span class="state plain">test</span>,
  },
  { label: "State", cell: ({ state }) => <State state={state} /> },
  {
    label: "Last attempt",
    classes: "fill",
    cell: (delivery) => <LastAttempt delivery={delivery} />,
  },
];

/** The latest attempt, with all attempts behind a toggle. */
function LastAttempt({ delivery }: { delivery: LoggedDelivery }) {
  const { attempts, next_attempt_at: next } = delivery;
  const last = attempts.at(-1);
  return (
    <details>
      <summary>
        {last === undefined
          ? "not sent yet"
          : `${attemptOutcome(last) || "…"}, attempt ${last.number}`}
        {next && `; ${describeNextAttempt(next)}`}
      </summary>
      <AttemptTable delivery={delivery} />
      <p class="quiet">
        <DeliveryIds delivery={delivery} />
      </p>
    </details>
  );
}

export function SellerDeliveries({ client, seller }: {
  client: OperatorClient;
  seller: Seller;
}) {
  const requested = useStore(route).query.get("state");
  const state = STATES.find((other) => other === requested);
  const list = useRows(async (after, signal) => {
    const { deliveries: rows, next } = await client
      .deliveries.list({ seller: seller.id, state, after }, { signal });
    return { rows, next };
  }, [client, seller.id, state]);
  return (
    <section>
      <h2>Deliveries</h2>
      <div class="row">
        <span class="field">
          <label for="delivery-state">State of the deliveries</label>
          <select
            id="delivery-state"
            value={state ?? ""}
            onChange={(event) =>
              goTo("sellers", seller.id, { state: event.currentTarget.value })}
          >
            <option value="">any</option>
            {STATES.map((other) => (
              <option key={other} value={other}>
                {readableName(stateLabel(other))}
              </option>
            ))}
          </select>
        </span>
        <button type="button" disabled={list.busy} onClick={list.reload}>
          Refresh
        </button>
      </div>
      {list.rows !== null && list.rows.length > 0 && (
        <Table
          label="Deliveries"
          columns={COLUMNS}
          rows={list.rows}
          keyOf={({ id }) => id}
        />
      )}
      <ListFoot
        list={list}
        empty={<NoDeliveries seller={seller} state={state} />}
      />
    </section>
  );
}

/** The text of the list if the filter finds no deliveries. */
function NoDeliveries(
  { seller, state }: { seller: Seller; state?: DeliveryState },
) {
  if (state !== undefined) {
    return (
      <>
        No delivery is in this state.{" "}
        <a href={linkTo("sellers", seller.id)}>Show all deliveries</a>
      </>
    );
  }
  return seller.webhooks === 0
    ? "This seller has no webhook, so nothing was delivered. Sellers register webhooks in the view Webhooks, or with the API."
    : (
      <>
        Nothing was delivered yet. The{" "}
        <HandbookLink chapter="operator-api#events">handbook</HandbookLink>{" "}
        shows how to send an event to this seller.
      </>
    );
}
