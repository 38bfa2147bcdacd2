/** For the operator: what waits, what fails, the last day. */
import { useEffect } from "preact/hooks";
import { every } from "../browser.ts";
import { HourChart } from "../chart.tsx";
import type { Client } from "../client.ts";
import {
  Await,
  count,
  duration,
  Figure,
  Moment,
  State,
  Title,
  useLoaded,
} from "../parts.tsx";
import {
  type FailingWebhook,
  type Queue,
  readQueues,
  readStatus,
  type Status,
} from "../resources.ts";
import { readable } from "../words.ts";
import { type Column, Table } from "../table.tsx";

const LOOK_AGAIN_MS = 10_000;

export function OperatorView({ client }: { client: Client }) {
  const status = useLoaded(
    async (signal) =>
      readStatus(await client.read("/operator_api/status", { signal })),
    [client],
  );
  useEffect(() => every(LOOK_AGAIN_MS, status.reload), [client]);
  return (
    <>
      <Title>Overview</Title>
      <Await loaded={status}>
        {(data) => (
          <>
            <Backlog status={data} />
            <Queues client={client} />
            <Charts status={data} />
            <Failing webhooks={data.failing} />
          </>
        )}
      </Await>
    </>
  );
}

function Backlog({ status: { backlog, failing } }: { status: Status }) {
  const of = (name: string) => count(backlog[name] ?? 0);
  const bad = (number: number) => number > 0 ? "bad" : "";
  return (
    <dl class="figures card">
      <Figure label="images waiting" value={of("images")} />
      <Figure label="deliveries waiting" value={of("deliveries")} />
      <Figure label="deliveries held" value={of("held_deliveries")} />
      <Figure
        label="deliveries given up"
        value={of("exhausted_deliveries")}
        tone={bad(backlog.exhausted_deliveries ?? 0)}
      />
      <Figure
        label="webhooks failing"
        value={count(failing.length)}
        tone={bad(failing.length)}
      />
    </dl>
  );
}

/** Read from the metrics, which alone know how old a queue is. */
function Queues({ client }: { client: Client }) {
  const loaded = useLoaded(async (signal) => {
    const answer = await client.send("/metrics", { signal });
    return readQueues(await answer.text());
  }, [client]);
  useEffect(() => every(LOOK_AGAIN_MS, loaded.reload), [client]);
  return (
    <section>
      <h2>Queues</h2>
      <Await loaded={loaded}>
        {(queues) => (
          <Table
            label="Queues"
            columns={QUEUES}
            rows={queues}
            keyOf={({ name }) => name}
          />
        )}
      </Await>
    </section>
  );
}

const QUEUES: readonly Column<Queue>[] = [
  { label: "Queue", cell: ({ name }) => readable(name) },
  {
    label: "Jobs",
    look: "fill",
    cell: ({ states }) =>
      Object.entries(states).map(([state, jobs]) =>
        `${count(jobs)} ${readable(state).toLowerCase()}`
      ).join(", "),
  },
  {
    label: "Oldest is due since",
    right: true,
    cell: ({ oldestSeconds }) =>
      oldestSeconds === 0 ? "–" : duration(oldestSeconds),
  },
];

function Charts({ status: { hours } }: { status: Status }) {
  return (
    <div class="thirds">
      <HourChart
        title="Uploads"
        hours={hours}
        series={[{ name: "uploads", label: "accepted", tone: "busy" }]}
      />
      <HourChart
        title="Images"
        hours={hours}
        series={[
          { name: "images_stored", label: "stored", tone: "good" },
          { name: "images_failed", label: "failed", tone: "bad" },
        ]}
      />
      <HourChart
        title="Deliveries"
        hours={hours}
        series={[
          { name: "deliveries_delivered", label: "delivered", tone: "good" },
          { name: "deliveries_failed", label: "failed", tone: "bad" },
        ]}
      />
    </div>
  );
}

const FAILING: readonly Column<FailingWebhook>[] = [
  { label: "Seller", cell: ({ seller }) => seller },
  { label: "Trigger", look: "mono", cell: ({ trigger }) => trigger },
  { label: "Address", look: "mono break", cell: ({ url }) => url },
  { label: "Failures", right: true, cell: ({ failures }) => count(failures) },
  { label: "Since", cell: ({ failingSince }) => <Moment iso={failingSince} /> },
  {
    label: "State",
    cell: ({ disabledAt }) => (
      <State of={disabledAt === null ? "failing" : "disabled"} />
    ),
  },
];

function Failing({ webhooks }: { webhooks: readonly FailingWebhook[] }) {
  return (
    <section>
      <h2>Failing webhooks</h2>
      {webhooks.length === 0
        ? <p class="quiet">None: every webhook took its last delivery.</p>
        : (
          <Table
            label="Failing webhooks"
            columns={FAILING}
            rows={webhooks}
            keyOf={({ seller, trigger }) => `${seller} ${trigger}`}
          />
        )}
    </section>
  );
}
