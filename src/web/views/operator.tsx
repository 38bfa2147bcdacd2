/** For the operator: what waits, what fails, the last day, the sellers. */
import { useEffect } from "preact/hooks";
import { every } from "../browser.ts";
import { HourChart } from "../chart.tsx";
import type { Client } from "../client.ts";
import { ListFoot, type ListOf, useRows } from "../paging.tsx";
import {
  Await,
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
  type FailingWebhook,
  readSeller,
  readStatus,
  type Seller,
  type Status,
} from "../resources.ts";
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
            <Charts status={data} />
            <Failing webhooks={data.failing} />
          </>
        )}
      </Await>
      <Sellers client={client} />
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

const SELLERS: ListOf<Seller> = {
  path: "/operator_api/sellers",
  list: "sellers",
  row: "seller",
  read: readSeller,
};

const SELLER: readonly Column<Seller>[] = [
  { label: "Name", look: "break", cell: ({ name }) => name },
  { label: "State", cell: ({ status }) => <State of={status} /> },
  {
    label: "Last upload",
    cell: (seller) => <Moment iso={seller.lastUploadAt} />,
  },
  { label: "Keys", right: true, cell: ({ keys }) => count(keys) },
  { label: "Webhooks", right: true, cell: ({ webhooks }) => count(webhooks) },
  {
    label: "Failing",
    right: true,
    look: ({ failingWebhooks }) => failingWebhooks > 0 ? "bad" : "",
    cell: ({ failingWebhooks }) => count(failingWebhooks),
  },
  { label: "Added", cell: ({ createdAt }) => <Moment iso={createdAt} /> },
];

/** Suspends an active seller, or ends a suspension. */
function StatusButton({ client, seller: { id, status }, onChanged }: {
  client: Client;
  seller: Seller;
  onChanged: () => void;
}) {
  const { busy, error, run } = useAction();
  const set = (value: string) =>
    run(async () => {
      const path = `/operator_api/sellers/${id}/attribute/status/${value}`;
      await client.send(path, { method: "PUT" });
      onChanged();
    });
  if (error) return <ErrorNote error={error} />;
  return status === "active"
    ? (
      <SureButton
        label="Suspend"
        question="Refuse this seller's requests?"
        disabled={busy}
        onSure={() => set("suspended")}
      />
    )
    : (
      <button type="button" disabled={busy} onClick={() => set("active")}>
        Activate
      </button>
    );
}

function Sellers({ client }: { client: Client }) {
  const list = useRows(client, SELLERS);
  const columns: readonly Column<Seller>[] = [...SELLER, {
    label: "Change",
    cell: (seller) => (
      <StatusButton client={client} seller={seller} onChanged={list.reload} />
    ),
  }];
  return (
    <section>
      <h2>Sellers</h2>
      {list.rows !== null && list.rows.length > 0 && (
        <Table
          label="Sellers"
          columns={columns}
          rows={list.rows}
          keyOf={({ id }) => id}
        />
      )}
      <ListFoot list={list} empty="There are no sellers yet." />
    </section>
  );
}
