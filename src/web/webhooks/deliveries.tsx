/** The view of one webhook's deliveries and their attempts. */
import { useEffect, useState } from "preact/hooks";
import { UnlessReadOnly } from "../ui/changing.tsx";
import { every } from "../lib/browser.ts";
import type {
  Attempt,
  Client,
  LoggedDelivery,
  Trigger,
} from "../../client/mod.ts";
import { ListFoot, useRows } from "../ui/paging.tsx";
import {
  ErrorNote,
  Form,
  LocalTime,
  secondsUntil,
  State,
  Title,
  useAction,
} from "../ui/components.tsx";
import { formatDuration, plural } from "../lib/format.ts";
import { DeliveryPayload } from "./payload.tsx";
import { linkTo } from "../state/route.ts";
import { type Column, Table } from "../ui/table.tsx";

/** How often the list is reloaded while a delivery is in progress. */
const REFRESH_MS = 2_000;
const IN_PROGRESS_STATES: readonly string[] = ["pending", "sending"];
/** The list is reloaded again if an attempt is due within these seconds. */
const SOON_SECONDS = 60;
/** States in which a delivery can be replayed. */
const REPLAYABLE: readonly string[] = [
  "pending",
  "retrying",
  "delivered",
  "exhausted",
  "cancelled",
];

export function DeliveriesView({ client, trigger }: {
  client: Client;
  trigger: Trigger;
}) {
  const list = useRows(async (after, signal) => {
    const { deliveries: rows, next } = await client
      .deliveries.list({ trigger, after }, { signal });
    return { rows, next };
  }, [client, trigger]);
  const changesSoon = list.rows?.some(willChangeSoon);
  useEffect(() => {
    if (changesSoon) return every(REFRESH_MS, list.reload);
  }, [changesSoon, trigger]);
  return (
    <>
      <p>
        <a href={linkTo("webhooks")}>All webhooks</a>
      </p>
      <div class="bar">
        <Title>
          Deliveries of <span class="mono">{trigger}</span>
        </Title>
        <button type="button" disabled={list.busy} onClick={list.reload}>
          Refresh
        </button>
      </div>
      <UnlessReadOnly>
        <RecoverForm
          client={client}
          trigger={trigger}
          onRecovered={list.reload}
        />
      </UnlessReadOnly>
      <ul class="stack">
        {list.rows?.map((delivery) => (
          <DeliveryCard
            key={delivery.id}
            client={client}
            trigger={trigger}
            delivery={delivery}
            onReplayed={list.reload}
          />
        ))}
      </ul>
      <ListFoot
        list={list}
        empty="Nothing was sent to this webhook yet. Test it in the list of webhooks."
      />
    </>
  );
}

function willChangeSoon(
  { state, next_attempt_at: next }: LoggedDelivery,
): boolean {
  return IN_PROGRESS_STATES.includes(state) ||
    (next !== null && secondsUntil(next) < SOON_SECONDS);
}

/** A form that replays the events that a webhook has missed since a time. */
function RecoverForm({ client, trigger, onRecovered }: {
  client: Client;
  trigger: Trigger;
  onRecovered: () => void;
}) {
  const [since, setSince] = useState("");
  const [until, setUntil] = useState("");
  const [outcome, setOutcome] = useState("");
  const { busy, error, run } = useAction();
  const recover = async () => {
    const { recovery: { queued, held = 0 } } = await client.webhooks.recover({
      trigger,
      since: new Date(since).toISOString(),
      until: until === "" ? undefined : new Date(until).toISOString(),
    });
    const deliveries = plural(queued, "delivery", "deliveries");
    setOutcome(
      held === 0
        ? `${deliveries} queued.`
        : `${deliveries} on hold until you register the webhook again.`,
    );
    onRecovered();
  };
  return (
    <Form
      class="card"
      onSubmit={() => run(recover)}
    >
      <h2>Recover missed events</h2>
      <p class="quiet">
        This sends deliveries that were given up or cancelled again, and events
        of times when no webhook was registered.
      </p>
      <div class="row">
        <span class="field">
          <label for="since">Events since</label>
          <input
            id="since"
            type="datetime-local"
            required
            value={since}
            onInput={(event) => setSince(event.currentTarget.value)}
          />
        </span>
        <span class="field">
          <label for="until">until (if empty: now)</label>
          <input
            id="until"
            type="datetime-local"
            value={until}
            onInput={(event) => setUntil(event.currentTarget.value)}
          />
        </span>
        <button type="submit" disabled={busy}>Recover</button>
        <span role="status">{outcome}</span>
      </div>
      {error && <ErrorNote error={error} />}
    </Form>
  );
}

function DeliveryCard({ client, trigger, delivery, onReplayed }: {
  client: Client;
  trigger: Trigger;
  delivery: LoggedDelivery;
  onReplayed: () => void;
}) {
  const { id, event_id, state, created_at, next_attempt_at } = delivery;
  const { busy, error, run } = useAction();
  const replay = async () => {
    await client.deliveries.replay({ trigger, id });
    onReplayed();
  };
  return (
    <li class="card">
      <div class="row">
        <State state={state} />
        <LocalTime iso={created_at} exact />
        <span class="grow" />
        {next_attempt_at && (
          <span class="quiet">
            {describeNextAttempt(next_attempt_at)}
          </span>
        )}
        {REPLAYABLE.includes(state) && (
          <UnlessReadOnly>
            <button
              type="button"
              class="small"
              disabled={busy}
              aria-label={`Send again event ${event_id}`}
              onClick={() => run(replay)}
            >
              Send again
            </button>
          </UnlessReadOnly>
        )}
      </div>
      {error && <ErrorNote error={error} />}
      <AttemptTable delivery={delivery} />
      <DeliveryPayload client={client} trigger={trigger} delivery={delivery} />
      <details class="facts">
        <summary>For a problem report</summary>
        <DeliveryIds delivery={delivery} />
      </details>
    </li>
  );
}

/** The ids of a delivery, for a problem report. */
export function DeliveryIds(
  { delivery: { id, event_id } }: { delivery: LoggedDelivery },
) {
  return (
    <>
      event <code class="break">{event_id}</code>, delivery{" "}
      <code class="break">{id}</code>
    </>
  );
}

export function AttemptTable(
  { delivery: { id, attempts } }: { delivery: LoggedDelivery },
) {
  if (attempts.length === 0) return null;
  return (
    <Table
      label={`Attempts of delivery ${id}`}
      columns={ATTEMPT_COLUMNS}
      rows={attempts}
      keyOf={({ number }) => number}
    />
  );
}

export function describeNextAttempt(at: string): string {
  const seconds = secondsUntil(at);
  return seconds < 1
    ? "the next attempt is due"
    : `next attempt in ${formatDuration(seconds)}`;
}

/** The status of the response, or the reason why there was no response. */
export function attemptOutcome({ status, error }: Attempt): string {
  return [status, error].filter(Boolean).join(" ");
}

const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  { label: "Attempt", right: true, cell: ({ number }) => number },
  {
    label: "Started",
    cell: ({ started_at }) => <LocalTime iso={started_at} exact />,
  },
  {
    label: "Took",
    right: true,
    cell: ({ duration_ms }) =>
      duration_ms === null ? "…" : `${Math.round(duration_ms)} ms`,
  },
  {
    label: "Response",
    cell: attemptOutcome,
  },
  { label: "Address", classes: "mono break", cell: ({ url }) => url },
];
