/** The deliveries of one webhook with their attempts. */
import { useEffect, useState } from "preact/hooks";
import { every } from "../browser.ts";
import type { Client } from "../client.ts";
import { ListFoot, type ListOf, useRows } from "../paging.tsx";
import {
  duration,
  ErrorNote,
  Moment,
  plural,
  secondsUntil,
  State,
  Title,
  useAction,
} from "../parts.tsx";
import { type Attempt, type Delivery, readDelivery } from "../resources.ts";
import { Payload } from "./payload.tsx";
import { linkTo } from "../route.ts";
import { type Column, Table } from "../table.tsx";
import { find, numberOf } from "../xml.ts";

/** How often the list is reloaded while a delivery is in progress. */
const LOOK_AGAIN_MS = 2_000;
const UNDER_WAY: readonly string[] = ["pending", "sending"];
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
  trigger: string;
}) {
  const webhook = `/seller_api/webhooks/${encodeURIComponent(trigger)}`;
  const path = `${webhook}/deliveries`;
  const list = useRows(client, deliveriesAt(path));
  const underWay = list.rows?.some(({ state }) => UNDER_WAY.includes(state));
  useEffect(() => {
    if (underWay) return every(LOOK_AGAIN_MS, list.reload);
  }, [underWay, path]);
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
      <RecoverForm
        client={client}
        path={`${webhook}/recover`}
        onRecovered={list.reload}
      />
      <ul class="stack">
        {list.rows?.map((delivery) => (
          <DeliveryCard
            key={delivery.id}
            client={client}
            path={path}
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

/** Replays what the webhook has missed since a time. */
function RecoverForm({ client, path, onRecovered }: {
  client: Client;
  path: string;
  onRecovered: () => void;
}) {
  const [since, setSince] = useState("");
  const [until, setUntil] = useState("");
  const [done, setDone] = useState("");
  const { busy, error, run } = useAction();
  const recover = async () => {
    const query = new URLSearchParams({
      since: new Date(since).toISOString(),
      ...(until !== "" && { until: new Date(until).toISOString() }),
    });
    const root = await client.read(`${path}?${query}`, { method: "POST" });
    const queued = numberOf(find(root, "recovery"), "queued");
    setDone(`${plural(queued, "delivery", "deliveries")} queued.`);
    onRecovered();
  };
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        run(recover);
      }}
    >
      <h2>Recover what was missed</h2>
      <p class="quiet">
        Sends again what was exhausted or cancelled, and events for which there
        was no webhook.
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
          <label for="until">until (now, if empty)</label>
          <input
            id="until"
            type="datetime-local"
            value={until}
            onInput={(event) => setUntil(event.currentTarget.value)}
          />
        </span>
        <button type="submit" disabled={busy}>Recover</button>
        <span role="status">{done}</span>
      </div>
      {error && <ErrorNote error={error} />}
    </form>
  );
}

function deliveriesAt(path: string): ListOf<Delivery> {
  return {
    path,
    list: "deliveries",
    row: "delivery",
    read: readDelivery,
  };
}

function DeliveryCard({ client, path, trigger, delivery, onReplayed }: {
  client: Client;
  path: string;
  trigger: string;
  delivery: Delivery;
  onReplayed: () => void;
}) {
  const { id, eventId, state, createdAt, nextAttemptAt, attempts } = delivery;
  const { busy, error, run } = useAction();
  const replay = async () => {
    await client.send(`${path}/${id}/replay`, { method: "POST" });
    onReplayed();
  };
  return (
    <li class="card">
      <div class="row">
        <State of={state} />
        <Moment iso={createdAt} exact />
        <span class="grow" />
        {nextAttemptAt && (
          <span class="quiet">
            next try in {duration(secondsUntil(nextAttemptAt))}
          </span>
        )}
        {REPLAYABLE.includes(state) && (
          <button
            type="button"
            class="small"
            disabled={busy}
            aria-label={`Send again event ${eventId}`}
            onClick={() => run(replay)}
          >
            Send again
          </button>
        )}
      </div>
      {error && <ErrorNote error={error} />}
      {attempts.length > 0 && (
        <Table
          label="Tries"
          columns={COLUMNS}
          rows={attempts}
          keyOf={({ number }) => number}
        />
      )}
      <Payload client={client} trigger={trigger} delivery={delivery} />
      <details class="facts">
        <summary>For a report</summary>
        event <code class="break">{eventId}</code>, delivery{" "}
        <code class="break">{id}</code>
      </details>
    </li>
  );
}

const COLUMNS: readonly Column<Attempt>[] = [
  { label: "Try", right: true, cell: ({ number }) => number },
  {
    label: "Started",
    cell: ({ startedAt }) => <Moment iso={startedAt} exact />,
  },
  {
    label: "Took",
    right: true,
    cell: ({ durationMs }) =>
      durationMs === null ? "…" : `${Math.round(durationMs)} ms`,
  },
  {
    label: "Answer",
    cell: ({ status, error }) => [status, error].filter(Boolean).join(" "),
  },
  { label: "Address", look: "mono break", cell: ({ url }) => url },
];
