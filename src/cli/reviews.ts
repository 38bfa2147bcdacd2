/** The commands for reviewing products. */
import { type Detail, recordInvalid } from "../lib/errors.ts";
import { COMMAND_LINE } from "../monitoring/audit.ts";
import { type DecisionTexts, readDecision } from "../reviews/decision.ts";
import { decideReviews } from "../reviews/decisions.ts";
import { FIRST_REVIEW, listReviews, reviewPlace } from "../reviews/queue.ts";
import { REVIEW_STATES, reviewOf } from "../catalogue/review.ts";
import { sellerByName } from "../sellers/seller_rows.ts";
import { isoTime } from "../xml/encode.ts";
import { type Command, flag, line, UsageError } from "./command.ts";
import type { CommandContext } from "./command.ts";
import type { Db } from "../database/db.ts";
import { databaseCommand } from "./database.ts";

/** Products that are read at a time. */
const PAGE_ROWS = 100;

const message = flag("message", "TEXT", "the reason for the seller");

export const reviewCommands: readonly Command[] = [
  databaseCommand({
    name: "review list",
    summary: "list products to review, oldest first: since, id, seller, SKU, " +
      "title, reason of a rejection",
    flags: [
      flag("seller", "NAME", "only this seller's"),
      flag(
        "state",
        "STATE",
        `${REVIEW_STATES.join(", ")} (default ${REVIEW_STATES[0]})`,
      ),
    ],
    run: list,
  }),
  databaseCommand({
    name: "review approve",
    summary: "approve a product",
    arguments: [{ name: "ID" }],
    flags: [message],
    run: (context) => decide(context, "approved"),
  }),
  databaseCommand({
    name: "review reject",
    summary: "reject a product; needs a code or a message",
    arguments: [{ name: "ID" }],
    flags: [
      flag("code", "CODE", "your own code for the reason"),
      flag("field", "FIELD", "the field that is wrong"),
      message,
    ],
    run: (context) => decide(context, "rejected"),
  }),
];

type Context = CommandContext & { db: Db };

async function list({ db, flags, print }: Context): Promise<void> {
  const state = REVIEW_STATES.find((each) =>
    each === (flags.state ?? REVIEW_STATES[0])
  );
  if (state === undefined) {
    throw new UsageError(
      `--state is ${JSON.stringify(flags.state)}; it must be one of ` +
        `${REVIEW_STATES.join(", ")}.`,
    );
  }
  const { seller } = flags;
  const sellerNo = seller === undefined
    ? null
    : (await db.read((sql) => sellerByName(sql, seller))).no;
  for (let after = FIRST_REVIEW;;) {
    const page = await db.read((sql) =>
      listReviews(sql, { state, sellerNo }, after, PAGE_ROWS)
    );
    for (const { product, owner } of page) {
      const { at, code, field, message } = reviewOf(product)!;
      const reason = [code, field, message].filter((part) => part !== null);
      const { id, sku, title } = product;
      print(line(isoTime(at), id, owner.name, sku, title, ...reason));
      after = reviewPlace(product);
    }
    if (page.length < PAGE_ROWS) return;
  }
}

async function decide(
  { db, deps, arguments: [id], flags, print }: Context,
  decision: string,
): Promise<void> {
  const { code, message } = flags;
  if (decision === "rejected" && code === undefined && message === undefined) {
    throw new UsageError("A rejection needs --code or --message.");
  }
  const texts: DecisionTexts = Object.fromEntries(
    Object.entries({ ...flags, product: id, decision })
      .map(([name, text = ""]) => [name, { text }]),
  );
  const problems: Detail[] = [];
  const read = readDecision(texts, {}, problems);
  if (read === null) throw recordInvalid(problems);
  const decisions = [read];
  await decideReviews({ db, deps }, { who: COMMAND_LINE, decisions, problems });
  print(`${decision}: ${read.productId}`);
}
