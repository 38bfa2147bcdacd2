/** Checks the notices that sellers and the operator received. */
import { sometimes } from "../../support/sometimes.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/lib/durations.ts";
import { LEASE_MS } from "../../../src/jobs/lease_queue.ts";
import { KEPT_MS } from "../../../src/notices/notice.ts";
import { type TakenMail, TROUBLES } from "../mail_server.ts";
import { NOTICES_SECRET } from "../operator_endpoint.ts";
import { isSigned } from "../webhook_endpoints.ts";
import type { Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import type { Seller } from "./seller.ts";
import type { Stage } from "./stage.ts";

/**
 * The longest time from a notice to its mail, if the mail server is sometimes
 * unreachable.
 */
const BEFORE_MAIL_MS = 2 * HOUR_MS;
/**
 * The longest time from the end of an import to its mail, if nothing takes
 * long.
 */
const PROMPT_MS = 32_000;

/** The time from a mail that may have been accepted to its first repetition. */
const SENT_AGAIN_MS = 60_000;

/** How long a mail may take to be sent. */
const SENDING_MS = 30_000;

/** The mail address of a seller. */
export function addressOf({ plan: { name } }: Seller): string {
  return `${name}@mail.example`;
}

/** Imports for which no notice was sent, and none is due soon. */
export function untold({ stage, world }: Scene): unknown[] {
  if (!world.notices || world.jumps) return [];
  return stage.rows(
    `SELECT imports.id, imports.state FROM imports
       JOIN sellers ON sellers.seller_no = imports.seller_no
     WHERE over_at IS NOT NULL AND state IN ('completed', 'refused', 'failed')
       AND over_at >= email_since AND sellers.status = 'active'
       AND NOT EXISTS (SELECT 1 FROM notices
         WHERE notices.seller_no = imports.seller_no
           AND notices.id LIKE 'import_% ' || imports.id)`,
  );
}

/** Each notice is sent once, to the right recipient, and not too often. */
export function checkNotices(scene: Scene, sellers: readonly Seller[]): void {
  const { stage, world } = scene;
  const mails = Map.groupBy(stage.mails(), ({ to }) => to);
  for (const seller of sellers) {
    checkMails(scene, seller, mails.get(addressOf(seller)) ?? []);
  }
  if (!world.jumps) checkImports(scene, sellers);
  checkRequests(scene);
  const stranded = stage.rows(
    `SELECT seller_no, id FROM notices
     WHERE due_at IS NULL AND lease_id IS NULL AND told_at IS NULL`,
  );
  hold(stranded.length === 0, "true", "each is told or waits", stranded);
  const orphans = stage.rows(
    `SELECT seller_no, id FROM notices
     WHERE seller_no > 0 AND seller_no NOT IN (SELECT seller_no FROM sellers)`,
  );
  hold(orphans.length === 0, "empty", "no notice is of nobody", orphans);
}

/** The same mail may be repeated; another mail may not repeat a notice. */
function checkMails(
  { stage, trouble, world }: Scene,
  { plan: { name } }: Seller,
  mails: readonly TakenMail[],
): void {
  const byId = Map.groupBy(mails, ({ id }) => id);
  // A mail names its seller by the name at the time of sending.
  const unnamed = (text: string) =>
    text.replaceAll(new RegExp(`\\b${name}(-\\d+)?\\b`, "g"), "<seller>");
  sometimes("a mail is sent again", mails.length - byId.size);
  const mayWait = world.jumps ||
    world.steps.some(({ kind }) => kind === "suspend" || kind === "remove");
  const reported = new Map<string, TakenMail>();
  let last: TakenMail | null = null;
  for (const [first, ...again] of byId.values()) {
    hold(
      again.every(({ text }) => unnamed(text) === unnamed(first.text)),
      "true",
      "a mail that is sent again is the same",
      [first, ...again],
    );
    const known = again.find(({ at }, n) => {
      const former = [first, ...again][n];
      return !former.isForgotten && !trouble.anyWithin(former.at - 1_000, at) &&
        !hasRunAhead(stage, former.at - SENDING_MS, at);
    });
    hold(known === undefined, "true", "a mail is sent once", [first, ...again]);
    const dueBy = first.at + SENT_AGAIN_MS;
    const isLeft = first.isForgotten && !first.isPutOff &&
      again.length === 0 && !mayWait &&
      stage.scheduler.time > dueBy &&
      trouble.only(TROUBLES.forgetful, first.at - 1_000, dueBy);
    hold(!isLeft, "alive", "what may have been taken is sent again", first);
    const ended = /^The [^\n]*\n\S*#\/imports\/(\S+)$/gm;
    for (const [, link] of first.text.matchAll(ended)) {
      const before = reported.get(link);
      const isOnce = before === undefined || mayForget(stage, before, first.at);
      hold(isOnce, "true", "an import is told once", { link, mails });
      reported.set(link, first);
    }
    hold(
      last === null || stage.isSetBack(last.at, first.at) ||
        stage.wallClock(first.at) - stage.wallClock(last.at) >= HOUR_MS,
      "true",
      "a seller gets one mail an hour",
      mails,
    );
    last = first;
  }
}

/** Whether the wall clock was set ahead in between, so that leases ended. */
function hasRunAhead(stage: Stage, from: number, to: number): boolean {
  const passed = stage.wallClock(to) - stage.wallClock(from);
  return passed > to - from + LEASE_MS / 2;
}

/**
 * Whether a clock ran so far ahead that a notice was deleted as old, and was
 * then set back to a time at which its import is new. To remember the notice as
 * long as the import exists, each sweep would have to skip the notices of
 * months. So the notice is sent twice rather than never.
 */
function mayForget(stage: Stage, mail: TakenMail, to: number): boolean {
  const { at: from, date } = mail;
  // A mail has the time of its latest notice, which may have waited for a day.
  const begun = Math.min(date, stage.wallClock(from) - BEFORE_MAIL_MS);
  return stage.isSetBack(from, to) &&
    stage.latestWithin(from, to) - begun >= KEPT_MS;
}

interface ImportNotice {
  seller: string;
  id: string;
  over_at: number;
  told_at: number | null;
}

/** Imports with an end have a notice; soon, if nothing fails. */
function checkImports({ stage, world }: Scene, sellers: readonly Seller[]) {
  const rows = stage.rows<ImportNotice>(
    `SELECT sellers.id AS seller, imports.id, imports.over_at, notices.told_at
     FROM notices JOIN sellers ON sellers.seller_no = notices.seller_no
       JOIN imports ON imports.seller_no = notices.seller_no
         AND notices.id IN ('import_through ' || imports.id,
           'import_refused ' || imports.id)`,
  );
  const startedAt = stage.now() - stage.scheduler.time;
  for (const { seller: sellerId, id, over_at, told_at } of rows) {
    if (told_at === null) continue;
    const seller = sellers.find((one) => one.id === sellerId)!;
    const mail = stage.mails().find(({ to, text, at }) =>
      to === addressOf(seller) &&
      (text.includes(`#/imports/${id}`) ||
        // For more than a few imports, a mail has only their number.
        startedAt + at >= over_at &&
          /^\d+ imports have finished\.$/m.test(text))
    );
    hold(mail !== undefined, "true", "what was told is in a mail", id);
    if (!world.isPrompt || mail.isLate) continue;
    const isFirst = stage.mails().find(({ to }) => to === mail.to) === mail;
    hold(
      !isFirst || startedAt + mail.at - over_at <= PROMPT_MS,
      "alive",
      "a seller is told soon",
      { over_at, mail },
    );
  }
  sometimes("an import is told", rows.length);
}

/** A notice without a row has a time rounded down to this. */
const SAME_MS = 5 * MINUTE_MS;
/** Less than a repeated notice takes to end and to begin again. */
const GOES_ON_MS = 20_000;

/**
 * Each request is signed, and has the same content when it is repeated: its id
 * depends on the content. A condition that a process reports without a row
 * keeps one id.
 */
function checkRequests({ stage, world }: Scene): void {
  const requests = stage.operatorRequests();
  const texts = new Map<string, string>();
  const former = new Map<string, { text: string; at: number }>();
  for (const { client, headers, body, at, isTaken } of requests) {
    const signed = isSigned({ headers, body }, NOTICES_SECRET);
    hold(signed, "true", "a request to the operator is signed", headers);
    const id = headers["webhook-id"];
    const text = new TextDecoder().decode(body);
    const same = texts.get(id) ?? text;
    hold(same === text, "true", "a request is the same again", [same, text]);
    texts.set(id, text);
    const { type, timestamp, data } = JSON.parse(text);
    const hasRow = Date.parse(timestamp) % SAME_MS !== 0;
    const what = `${client} ${type} ${data.part} ${hasRow}`;
    const last = former.get(what);
    former.delete(what);
    const mayGoOn = type === "not_ready" && !hasRow && !isTaken;
    if (mayGoOn) former.set(what, { text, at });
    if (last === undefined || at - last.at > GOES_ON_MS) continue;
    hold(last.text === text, "true", "what goes on is told as it was", [
      last.text,
      text,
    ]);
  }
  sometimes("the operator is told", requests.length);
  if (world.jumps) return;
  const taken = requests.filter(({ isTaken }) => isTaken)
    .map(({ body }) => new TextDecoder().decode(body)).join("\n");
  const told = stage.rows<{ id: string; detail: string }>(
    `SELECT id, detail FROM notices WHERE recipient = 'operator'
       AND told_at IS NOT NULL`,
  );
  for (const { detail } of told) {
    const fields = detail.slice(1, -1);
    hold(taken.includes(fields), "true", "the operator took it", detail);
  }
}
