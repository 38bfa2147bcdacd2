/**
 * The alert rules and the dashboard of the handbook: Prometheus' own tool
 * evaluates every expression. Debian has it in the package `prometheus`.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { boot } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { parseMetrics } from "../support/metrics.ts";
import { hasProgram, temporaryFolder } from "../support/process.ts";

const DOCS = new URL("../../src/docs/files/", import.meta.url);
const ALERTS = new URL("alerts.yml", DOCS).pathname;
const RULES = Deno.readTextFileSync(ALERTS);
const DASHBOARD: { panels: { targets: { expr: string }[] }[] } = JSON.parse(
  Deno.readTextFileSync(new URL("dashboard.json", DOCS)),
);

/** Longer than any alert waits, and than any looks back. */
const EVALUATED = "7h";

const NAMES = [...RULES.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);

const ignore = !hasProgram("promtool", "--version");
if (ignore) console.log("not tried: alerts and dashboard, without promtool");

interface Series {
  series: string;
  /** In the notation of promtool. */
  values: string;
}

interface PromtoolTest {
  interval: string;
  input_series: Series[];
  alert_rule_test?: unknown[];
  promql_expr_test?: unknown[];
}

/** Runs `promtool test rules`; JSON is YAML, too. */
async function promtool(tests: PromtoolTest[]): Promise<string> {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/tests.yml`;
  await Deno.writeTextFile(
    file,
    JSON.stringify({ rule_files: [ALERTS], tests }),
  );
  const { stdout, stderr } = await new Deno.Command("promtool", {
    args: ["test", "rules", file],
  }).output();
  const decoder = new TextDecoder();
  return decoder.decode(stdout) + decoder.decode(stderr);
}

/** Makes each alert fire. */
const TROUBLE: Record<string, Series[]> = {
  SellerInterfaceDown: [{ series: "up", values: "0x430" }],
  SellerInterfaceErrors: [
    ...[["503", "0+3x430"], ["200", "0+60x430"]].map(([status, values]) => ({
      series: `seller_http_requests_total{route="/x",status="${status}"}`,
      values,
    })),
  ],
  SellerInterfaceSlow: [
    ...["1", "5", "+Inf"].map((le, i) => ({
      series:
        `seller_http_request_duration_seconds_bucket{route="/x",le="${le}"}`,
      values: `0+${[1, 60, 60][i]}x430`,
    })),
  ],
  SellerQueueStuck: [
    {
      series: 'seller_queue_moved_timestamp_seconds{queue="images"}',
      values: "0x430",
    },
  ],
  SellerQueueForgets: [
    { series: 'seller_wait_seconds{queue="heavy"}', values: "2x430" },
  ],
  SellerQueueLate: [
    {
      series: 'seller_queue_oldest_due_seconds{queue="images"}',
      values: "700x430",
    },
  ],
  SellerRoleNotReady: [
    { series: 'seller_role_ready{role="images"}', values: "0x430" },
  ],
  SellerWebhooksFailing: [
    { series: 'seller_webhooks{state="active"}', values: "7x430" },
    { series: 'seller_webhooks{state="failing"}', values: "2x430" },
    { series: 'seller_webhooks{state="disabled"}', values: "1x430" },
  ],
  SellerUpkeepFailing: [
    {
      series: 'seller_upkeep_total{task="uploads",outcome="failed"}',
      values: "0+12x430",
    },
  ],
  SellerUpkeepStopped: [
    {
      series: 'seller_upkeep_done_timestamp_seconds{task="uploads"}',
      values: "-7200x430",
    },
  ],
  SellerCommitsSlow: [
    ...["0.25", "0.5", "+Inf"].map((le, i) => ({
      series: `seller_db_commit_seconds_bucket{le="${le}"}`,
      values: `0+${[1, 60, 60][i]}x430`,
    })),
  ],
  SellerDatabaseServerAway: [
    { series: 'seller_database_servers{state="away"}', values: "1x430" },
  ],
  SellerEventLoopLate: [
    { series: "seller_event_loop_lag_seconds", values: "0.7x430" },
  ],
  SellerFiguresOld: [
    { series: "seller_snapshot_age_seconds", values: "90x430" },
  ],
  SellerDatabaseReadForLong: [
    { series: 'seller_db_bytes{file="wal"}', values: "2e9x430" },
  ],
  SellerLogLost: [
    { series: "seller_log_lines_lost_total", values: "0+1x430" },
  ],
  SellerDiskFillsUp: [
    { series: "seller_disk_free_bytes", values: "8e11-1e9x430" },
  ],
  SellerBackupOld: [
    // The time of these tests begins at 0.
    { series: "seller_backup_timestamp_seconds", values: "-1e5x430" },
  ],
};

/** The labels that a scrape adds. */
function scraped({ series, values }: Series, instance: string): Series {
  const [name, labels = "}"] = series.split("{");
  const place = `instance="${instance}",job="seller-interface"`;
  const comma = labels === "}" ? "" : ",";
  return { series: `${name}{${place}${comma}${labels}`, values };
}

Deno.test({
  name: "every alert fires on its cause",
  ignore,
  fn: async () => {
    assertEquals(Object.keys(TROUBLE), NAMES);
    const output = await promtool([{
      interval: "1m",
      input_series: NAMES.flatMap((name) =>
        TROUBLE[name].map((series) => scraped(series, name))
      ),
      alert_rule_test: NAMES.map((alertname) => ({
        eval_time: EVALUATED,
        alertname,
      })),
    }]);
    // No alert is expected, so promtool reports each one that fires.
    for (const name of NAMES) {
      assert(output.includes(`alertname: ${name}`), `${name}: ${output}`);
      const reported = output.split(`alertname: ${name}, `)[1];
      assertMatch(reported.split("alertname: ")[0], /got:\[\s*0:/, name);
    }
  },
});

/** Makes no alert fire. */
const NO_CAUSE: Record<string, Series[]> = {
  "probes of a process that is not ready": [
    {
      series: 'seller_http_requests_total{route="/readyz",status="503"}',
      values: "0+60x430",
    },
    {
      series: 'seller_http_requests_total{route="/x",status="200"}',
      values: "0+60x430",
    },
  ],
  "a maintenance job that was mended six minutes ago": [
    {
      series: 'seller_upkeep_total{task="uploads",outcome="failed"}',
      values: "0+12x414 4968x20",
    },
  ],
  "a fast decrease of free space in the first half hour": [
    { series: "seller_disk_free_bytes", values: "_x385 8e10-1e9x35" },
    { series: "seller_backup_timestamp_seconds", values: "0x430" },
  ],
};

Deno.test({
  name: "no alert fires without its cause",
  ignore,
  fn: async () => {
    const output = await promtool([{
      interval: "1m",
      input_series: Object.entries(NO_CAUSE).flatMap(([name, series]) =>
        series.map((one) => scraped(one, name))
      ),
      alert_rule_test: NAMES.map((alertname) => ({
        eval_time: EVALUATED,
        alertname,
      })),
    }]);
    assertMatch(output, /SUCCESS/);
  },
});

/** The samples of an app that has handled some requests, as steady series. */
async function healthySeries(): Promise<Series[]> {
  await using app = await boot({
    config: { metricsKey: "key", roles: ["api", "images", "webhooks"] },
  });
  const headers = { Authorization: "Bearer key" };
  let text = "";
  await until(async () => {
    text = (await app.call("/metrics", { key: null, headers })).text;
    return text.includes("seller_queue_moved_timestamp_seconds{") &&
      text.includes("seller_webhooks{") &&
      text.includes("seller_upkeep_total{") &&
      text.includes("seller_http_requests_total{");
  });
  const series = [...parseMetrics(text)].map(([series, value]) => ({
    series,
    values: series.includes("_lost_")
      ? "0x430"
      : /_total|_bucket|_sum|_count/.test(series)
      ? "0+1x430"
      : series.includes("timestamp")
      ? "0+60x430"
      : `${value}x430`,
  }));
  return [{ series: "up", values: "1x430" }, ...series]
    .map((one) => scraped(one, "one"));
}

Deno.test({
  name: "in normal operation no alert fires, and every panel shows data",
  ignore,
  fn: async () => {
    const input_series = await healthySeries();
    const alerts = await promtool([{
      interval: "1m",
      input_series,
      alert_rule_test: NAMES.map((alertname) => ({
        eval_time: EVALUATED,
        alertname,
      })),
    }]);
    assertMatch(alerts, /SUCCESS/);

    const known = input_series.map(({ series }) => series.split("{")[0]);
    const panels = DASHBOARD.panels.flatMap(({ targets }) => targets)
      .map(({ expr }) =>
        expr.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*")
      );
    assert(panels.length > 25);
    const output = await promtool([{
      interval: "1m",
      input_series,
      promql_expr_test: panels.map((expr) => ({ expr, eval_time: EVALUATED })),
    }]);
    // No sample is expected, so promtool reports each expression that has
    // samples.
    const told = output.split("expr: ").slice(1);
    for (const expr of panels) {
      const [name] = /\b(seller|process)_\w+/.exec(expr)!;
      const found = told.find((part) => part.startsWith(JSON.stringify(expr)));
      // An event that has not happened has no series; then only the name is
      // checked.
      if (!known.includes(name)) {
        assert(HAPPENS_LATER.test(name), name);
      } else assert(found !== undefined, `${expr}\n${output.slice(0, 2_000)}`);
    }
    assert(!output.includes("error"), output);
  },
});

/** Counters with labels have no series until they count something. */
const HAPPENS_LATER =
  /^seller_(uploads_total|products_total|upload_phase_seconds_bucket|heads_total|images_total|events_total|delivery_attempts_total|db_retries_total|http_refused_total)$/;

Deno.test("alerts and dashboard are served", async () => {
  await using app = await boot();
  for (
    const [path, type, text] of [
      ["/docs/files/alerts.yml", "application/yaml; charset=utf-8", RULES],
      ["/docs/files/dashboard.json", "application/json; charset=utf-8", null],
    ]
  ) {
    const answer = await app.call(path!, { key: null });
    assertEquals([answer.status, answer.headers.get("content-type")], [
      200,
      type,
    ]);
    if (text !== null) assertEquals(answer.text, text);
    else assertEquals(JSON.parse(answer.text), DASHBOARD);
  }
});
