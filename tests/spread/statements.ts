/**
 * Records the statements that this process sends to its servers, and which of
 * them go to all servers.
 */
import { Connection } from "../../src/database/postgres/connection.ts";

/**
 * The statements that go to all servers: their purpose, a pattern, and how
 * often a process sends them. Each is bounded by its LIMIT, or reads one index
 * entry for each seller.
 */
export const OF_ALL: readonly [what: string, text: RegExp, often: string][] = [
  ["sellers with waiting work", /^WITH waiting /, "each look of a role"],
  ["leases that ended", /lease_until <= \$1/, "each look of a role"],
  ["images untold", /untold IS NOT NULL\s+\/\*/, "each look of the images"],
  ["counts of queues", /AS counted$/, "every 10 s"],
  ["oldest image", /AS waiting$/, "every 10 s"],
  ["webhooks by state", /FROM webhooks WHERE seller_no > 0/, "every 10 s"],
  [
    "old rows",
    /ORDER BY \w+ LIMIT CAST\(\$\d AS BIGINT\)$/,
    "each hour, of one server",
  ],
  [
    "unneeded images",
    /\(seller_no, id\) > \(\$1, \$2\)/,
    "a day, of one server",
  ],
  [
    "uploaded images that no product has named",
    /state IN \('arriving', 'uploaded'\)/,
    "each hour",
  ],
  [
    "copies of files",
    /sha256 > \$1|FROM images\s+WHERE sha256 >=/,
    "each hour",
  ],
  [
    "sellers with due imports",
    /"dueAt" <= \$2 ORDER BY/,
    "each look of imports",
  ],
  ["keys of imports", /has_keys = 1/, "each hour"],
  ["documents of imports", /WHERE document <> 'refused'/, "each hour"],
  [
    "sellers with due imports",
    /AND seller_no > \$1\s+GROUP BY seller_no\) AS waiting/,
    "each look of a role",
  ],
  ["leases held", /SELECT lease_id FROM/, "each hour"],
  ["changes left", /FROM changed_images WHERE seller_no > 0/, "each second"],
  ["due times ahead", /ORDER BY (due_at|lease_until) LIMIT/, "each start"],
  ["old refusals", /AS oldest/, "each hour, of one server"],
  ["old prices", /^SELECT owner\.seller_no /, "each hour, of one server"],
  ["old counts", /^DELETE FROM hourly_counts/, "each day, of one server"],
  ["former secrets", /<> '\[\]'/, "each hour, of one server"],
  ["quotas", /AS "wantsMail"/, "each look for notices, of one server"],
  [
    "failing webhooks",
    /webhooks\.failing_since IS NOT NULL/,
    "each look for notices, of one server",
  ],
  [
    "notices of a kind",
    /FROM notices\s+WHERE kind = \$1/,
    "each look for notices, of one server",
  ],
  [
    "imports that ended",
    /imports\.over_at IS NOT NULL/,
    "each look for notices, of one server",
  ],
  [
    "deliveries given up",
    /WHERE state = 'exhausted' AND settled_at/,
    "each look for notices, of one server",
  ],
  ["reviews waiting", /WHERE p\.review_state = \$1/, "each look for notices"],
  [
    "refusals",
    /FROM refusals\s+(JOIN|WHERE refusals\.id)/,
    "an operator's list",
  ],
  ["the feed", /change_no >= \$1|change_no AS change/, "an operator's page"],
  ["servers and sellers", /pg_dist_/, "every 2 s"],
];

export interface Sent {
  text: string;
  values: readonly unknown[];
  port: number;
  /** How often the statement was sent. */
  count: number;
  /** Milliseconds until all answers arrived. */
  waitMs: number;
}

/** Excludes settings of a transaction. */
const OF_TABLES = /^\s*(SELECT (?!set_config)|INSERT|UPDATE|DELETE|WITH)/;

/**
 * Records what all connections of this process send, by text and server, with
 * the latest values.
 */
export class Statements implements Disposable {
  readonly sent = new Map<string, Sent>();
  readonly #send = Connection.prototype.send;

  constructor() {
    const { sent } = this;
    const send = this.#send;
    Connection.prototype.send = function (statement, params = []) {
      const { port } = this.client as unknown as { port: number };
      const { text } = statement;
      const answer = send.call(this, statement, params);
      if (!OF_TABLES.test(text)) return answer;
      const key = `${port} ${text}`;
      const { count, waitMs } = sent.get(key) ?? { count: 0, waitMs: 0 };
      const one = { text, values: params, port, count: count + 1, waitMs };
      sent.set(key, one);
      const since = performance.now();
      const ended = () => void (one.waitMs += performance.now() - since);
      answer.then(ended, ended);
      return answer;
    };
  }

  [Symbol.dispose](): void {
    Connection.prototype.send = this.#send;
  }
}
