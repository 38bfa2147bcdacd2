/** The operator's overview: waiting work, failures, the last 24 hours. */
import { useEffect } from "preact/hooks";
import { every } from "../lib/browser.ts";
import { HourChart } from "../ui/chart.tsx";
import type {
  Backlog,
  Disk,
  FailingWebhook,
  Hour,
  OperatorClient,
  Queue,
} from "../../client/mod.ts";
import {
  Figure,
  Moment,
  State,
  Title,
  useLoaded,
  WhenLoaded,
} from "../ui/components.tsx";
import { count, durationText } from "../lib/format.ts";
import { readable } from "../lib/texts.ts";
import { showReviewsWaiting } from "../state/background.ts";
import { type Column, Table } from "../ui/table.tsx";

const REFRESH_MS = 10_000;

export function OperatorView({ client }: { client: OperatorClient }) {
  const status = useLoaded(
    (signal) => client.status.get({ signal }),
    [client],
  );
  useEffect(() => every(REFRESH_MS, status.reload), [client]);
  useEffect(() => {
    if (status.data === null) return;
    showReviewsWaiting(status.data.backlog.pending_reviews);
  }, [status.data]);
  return (
    <>
      <Title>Overview</Title>
      <WhenLoaded loaded={status}>
        {({ backlog, queues, failing_webhooks, hours, disks }) => (
          <>
            <Waiting
              backlog={backlog}
              failing={failing_webhooks.length}
              disks={disks}
            />
            <Queues queues={queues} />
            <Charts hours={hours} />
            <Failing webhooks={failing_webhooks} />
          </>
        )}
      </WhenLoaded>
    </>
  );
}

function Waiting({ backlog, failing, disks }: {
  backlog: Backlog;
  failing: number;
  disks: readonly Disk[];
}) {
  const of = (name: keyof Backlog) => count(backlog[name] ?? 0);
  const bad = (number: number) => number > 0 ? "bad" : "";
  return (
    <dl class="figures card">
      <Figure label="images waiting" value={of("images")} />
      <Figure label="imports" value={of("imports")} />
      <Figure label="deliveries waiting" value={of("deliveries")} />
      <Figure label="deliveries on hold" value={of("held_deliveries")} />
      <Figure
        label="deliveries given up"
        value={of("exhausted_deliveries")}
        tone={bad(backlog.exhausted_deliveries ?? 0)}
      />
      <Figure
        label="webhooks failing"
        value={count(failing)}
        tone={bad(failing)}
      />
      <Figure label="reviews waiting" value={of("pending_reviews")} />
      {disks.map(({ holds, free_percent, low }) => (
        <Figure
          key={holds}
          label={`free on the disk of ${holds}`}
          value={`${free_percent} %`}
          tone={low ? "bad" : ""}
        />
      ))}
    </dl>
  );
}

function Queues({ queues }: { queues: readonly Queue[] }) {
  return (
    <section>
      <h2>Queues</h2>
      <Table
        label="Queues"
        columns={QUEUES}
        rows={queues}
        keyOf={({ name }) => name}
      />
    </section>
  );
}

const QUEUES: readonly Column<Queue>[] = [
  { label: "Queue", cell: ({ name }) => readable(name) },
  {
    label: "Jobs",
    classes: "fill",
    cell: ({ waiting, in_progress }) =>
      `${count(waiting)} waiting, ${count(in_progress)} in progress`,
  },
  {
    label: "Oldest due since",
    right: true,
    cell: ({ oldest_due_seconds: seconds = 0 }) =>
      seconds === 0 ? "–" : durationText(seconds),
  },
];

function Charts({ hours }: { hours: readonly Hour[] }) {
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
  { label: "Trigger", classes: "mono", cell: ({ trigger }) => trigger },
  { label: "Address", classes: "mono break", cell: ({ url }) => url },
  { label: "Failures", right: true, cell: ({ failures }) => count(failures) },
  {
    label: "Since",
    cell: ({ failing_since }) => <Moment iso={failing_since} />,
  },
  {
    label: "State",
    cell: ({ disabled_at }) => (
      <State of={disabled_at === undefined ? "failing" : "disabled"} />
    ),
  },
];

function Failing({ webhooks }: { webhooks: readonly FailingWebhook[] }) {
  return (
    <section>
      <h2>Failing webhooks</h2>
      {webhooks.length === 0
        ? <p class="quiet">None: every webhook accepted its last delivery.</p>
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
