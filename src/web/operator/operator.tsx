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
  LocalTime,
  State,
  Title,
  useLoaded,
  WhenLoaded,
} from "../ui/components.tsx";
import { formatCount, formatDuration } from "../lib/format.ts";
import { readableName } from "../lib/texts.ts";
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
            <BacklogFigures
              backlog={backlog}
              failing={failing_webhooks.length}
              disks={disks}
            />
            <Queues queues={queues} />
            <ActivityCharts hours={hours} />
            <FailingWebhooks webhooks={failing_webhooks} />
          </>
        )}
      </WhenLoaded>
    </>
  );
}

function BacklogFigures({ backlog, failing, disks }: {
  backlog: Backlog;
  failing: number;
  disks: readonly Disk[];
}) {
  const countOf = (name: keyof Backlog) => formatCount(backlog[name] ?? 0);
  const toneOf = (number: number) => number > 0 ? "bad" : "";
  return (
    <dl class="figures card">
      <Figure label="images waiting" value={countOf("images")} />
      <Figure label="imports" value={countOf("imports")} />
      <Figure label="deliveries waiting" value={countOf("deliveries")} />
      <Figure label="deliveries on hold" value={countOf("held_deliveries")} />
      <Figure
        label="deliveries given up"
        value={countOf("exhausted_deliveries")}
        tone={toneOf(backlog.exhausted_deliveries ?? 0)}
      />
      <Figure
        label="webhooks failing"
        value={formatCount(failing)}
        tone={toneOf(failing)}
      />
      <Figure label="reviews waiting" value={countOf("pending_reviews")} />
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
        columns={QUEUE_COLUMNS}
        rows={queues}
        keyOf={({ name }) => name}
      />
    </section>
  );
}

const QUEUE_COLUMNS: readonly Column<Queue>[] = [
  { label: "Queue", cell: ({ name }) => readableName(name) },
  {
    label: "Jobs",
    classes: "fill",
    cell: ({ waiting, in_progress }) =>
      `${formatCount(waiting)} waiting, ${
        formatCount(in_progress)
      } in progress`,
  },
  {
    label: "Oldest due since",
    right: true,
    cell: ({ oldest_due_seconds: seconds = 0 }) =>
      seconds === 0 ? "–" : formatDuration(seconds),
  },
];

function ActivityCharts({ hours }: { hours: readonly Hour[] }) {
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

const FAILING_COLUMNS: readonly Column<FailingWebhook>[] = [
  { label: "Seller", cell: ({ seller }) => seller },
  { label: "Trigger", classes: "mono", cell: ({ trigger }) => trigger },
  { label: "Address", classes: "mono break", cell: ({ url }) => url },
  {
    label: "Failures",
    right: true,
    cell: ({ failures }) => formatCount(failures),
  },
  {
    label: "Since",
    cell: ({ failing_since }) => <LocalTime iso={failing_since} />,
  },
  {
    label: "State",
    cell: ({ disabled_at }) => (
      <State state={disabled_at === undefined ? "failing" : "disabled"} />
    ),
  },
];

function FailingWebhooks(
  { webhooks }: { webhooks: readonly FailingWebhook[] },
) {
  return (
    <section>
      <h2>Failing webhooks</h2>
      {webhooks.length === 0
        ? <p class="quiet">All webhooks accepted their last delivery.</p>
        : (
          <Table
            label="Failing webhooks"
            columns={FAILING_COLUMNS}
            rows={webhooks}
            keyOf={({ seller, trigger }) => `${seller} ${trigger}`}
          />
        )}
    </section>
  );
}
