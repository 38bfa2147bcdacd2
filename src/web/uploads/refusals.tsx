/** The refused requests of sellers, with their problems. */
import type {
  ListAllRefusalsQuery,
  OperatorClient,
  Refusal,
} from "../../client/mod.ts";
import { Form, LocalTime, Title } from "../ui/components.tsx";
import { formatCount, plural } from "../lib/format.ts";
import { ListFoot, useRows } from "../ui/paging.tsx";
import { ProblemList } from "../ui/problem_list.tsx";
import { goTo, route } from "../state/route.ts";
import { useStore } from "../lib/store.ts";
import { type Column, Table } from "../ui/table.tsx";

const COLUMNS: readonly Column<Refusal>[] = [
  { label: "When", cell: ({ at }) => <LocalTime iso={at} /> },
  {
    label: "Request",
    classes: "mono break",
    cell: ({ route, dry_run }) =>
      `${route || "–"}${dry_run ? " (dry run)" : ""}`,
  },
  { label: "Status", right: true, cell: ({ status }) => status },
  { label: "Code", classes: "mono", cell: ({ code }) => code },
  { label: "Why", cell: (refusal) => <RefusalReasons refusal={refusal} /> },
];

const SELLER_COLUMN: Column<Refusal> = {
  label: "Seller",
  classes: "break",
  cell: ({ seller }) => seller,
};

/** The message of a refusal; a toggle shows the problems. */
export function RefusalReasons({ refusal }: { refusal: Refusal }) {
  const { request_id, code, message, details, more = 0, times } = refusal;
  const facts = (
    <span class="quiet">
      {times > 1 && `${formatCount(times)} times within a minute. `}
      For a problem report: <code>{code}</code>, request{" "}
      <code>{request_id}</code>, key <code>{refusal.key_id}</code> from{" "}
      {refusal.client_address}
    </span>
  );
  if (details === undefined) {
    return (
      <details>
        <summary>{message}</summary>
        {facts}
      </details>
    );
  }
  return (
    <details>
      <summary>
        {plural(details.length + more, "problem")}
      </summary>
      <ProblemList details={details} more={more} />
      {facts}
    </details>
  );
}

/** The refusals of one seller or of all sellers, for the operator. */
export function RefusalList({ client, filter }: {
  client: OperatorClient;
  /** A missing field matches all refusals. */
  filter: ListAllRefusalsQuery;
}) {
  const list = useRows(async (after, signal) => {
    const { refusals: rows, next } = await client
      .refusals.list({ ...filter, after }, { signal });
    return { rows, next };
  }, [client, JSON.stringify(filter)]);
  const [when, ...rest] = COLUMNS;
  const isOfOne = filter.seller !== undefined;
  return (
    <>
      {list.rows !== null && list.rows.length > 0 && (
        <Table
          label="Refused requests"
          columns={isOfOne ? COLUMNS : [when, SELLER_COLUMN, ...rest]}
          rows={list.rows}
          keyOf={({ request_id }) => request_id}
        />
      )}
      <ListFoot
        list={list}
        empty="No request was refused. Errors of the service (5xx) are only in its log."
      />
    </>
  );
}

/** The fields of the filter, by their names in the address. */
const FIELDS = [
  { name: "seller", label: "Seller" },
  { name: "since", label: "Since", type: "datetime-local" },
  { name: "until", label: "Until", type: "datetime-local" },
  { name: "code", label: "Code" },
  { name: "route", label: "Request" },
  { name: "q", label: "SKU or request id" },
] as const;

/** The filter in the address; its times are in the browser's time zone. */
function filterOf(query: URLSearchParams): ListAllRefusalsQuery {
  const text = (name: string) => query.get(name) || undefined;
  const time = (name: string) => {
    const at = new Date(text(name) ?? NaN);
    return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
  };
  return {
    seller: text("seller"),
    since: time("since"),
    until: time("until"),
    code: text("code") as ListAllRefusalsQuery["code"],
    route: text("route"),
    q: text("q"),
  };
}

export function RefusalsView({ client }: { client: OperatorClient }) {
  const { query } = useStore(route);
  const find = (form: HTMLFormElement) => {
    const entries = [...new FormData(form)].map(([name, value]) =>
      [name, `${value}`.trim()] as const
    );
    goTo("refusals", undefined, Object.fromEntries(entries));
  };
  return (
    <>
      <Title>Refused requests</Title>
      <Form
        key={`${query}`}
        class="card"
        onSubmit={() => find(document.forms.namedItem("refusals")!)}
        name="refusals"
      >
        <div class="row">
          {FIELDS.map(({ name, label, ...rest }) => (
            <span key={name} class="field">
              <label for={`refusals-${name}`}>{label}</label>
              <input
                id={`refusals-${name}`}
                name={name}
                defaultValue={query.get(name) ?? ""}
                {...rest}
              />
            </span>
          ))}
          <button type="submit" class="main">Find</button>
        </div>
      </Form>
      <RefusalList client={client} filter={filterOf(query)} />
    </>
  );
}
