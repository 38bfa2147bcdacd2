/** Checks deliveries as endpoints received them. */
import { sometimes } from "../../support/sometimes.ts";
import type { Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import { mannerOf, mayBeDisabled } from "./hosts.ts";
import type { KnownEvent, Seller } from "./seller.ts";
import { isSigned, type Receipt } from "../webhook_endpoints.ts";

interface DeliveryRow {
  event_id: string;
  state: string;
  attempts: number;
  failures: number;
  trigger_name: string;
  url: string | null;
}

/**
 * Each event was delivered at least once, unchanged, and only to its seller.
 */
export function checkDeliveries(
  scene: Scene,
  sellers: readonly Seller[],
): void {
  const receipts = scene.stage.receipts();
  for (const receipt of receipts) checkReceipt(receipt, sellers);
  if (!scene.world.jumps) {
    checkRepetitions(scene, sellers);
    for (const seller of sellers) checkSuspended(scene, seller);
    for (const receipt of receipts) checkSecrets(receipt, sellers);
  }
  if (scene.world.isPrompt) checkPrompt(scene);
  const arrived = receipts
    .filter(({ status }) => status !== null && isSuccess(status))
    .map(({ headers }) => headers["webhook-id"]);
  const accepted = new Set(arrived);
  sometimes("redelivery", arrived.length - accepted.size);
  for (const seller of sellers) {
    if (seller.removed) continue;
    const rows = scene.stage.rows<DeliveryRow>(
      `SELECT d.event_id, d.state, d.attempts, d.failures, d.trigger_name,
         w.url
       FROM deliveries d
       JOIN sellers s ON s.seller_no = d.seller_no
       LEFT JOIN webhooks w ON w.id = d.webhook_id
       WHERE s.id = ?`,
      seller.id,
    );
    const byEvent = new Map(rows.map((row) => [row.event_id, row]));
    for (const event of seller.events) {
      if (!event.delivered) continue;
      const row = byEvent.get(event.id);
      if (row === undefined && scene.world.jumps) continue;
      hold(row !== undefined, "true", "an event has its delivery", event);
      checkState(row, accepted.has(event.id), seller, scene.world.jumps);
      if (
        seller.isReliable(event.trigger) && !scene.trouble.since("network", 0)
      ) {
        hold(row.failures === 0, "true", "no fault of ours is charged", row);
      }
    }
  }
}

function checkState(
  row: DeliveryRow,
  isAccepted: boolean,
  seller: Seller,
  jumps: boolean,
): void {
  const rule = (holds: boolean, words: string) =>
    hold(holds, "true", words, row);
  switch (row.state) {
    case "delivered":
      return rule(isAccepted, "what is delivered was received");
    case "cancelled":
      return rule(
        seller.cancelled.has(row.trigger_name),
        "a delivery is cancelled with its webhook alone",
      );
    case "held":
      return rule(
        row.url !== null && mayBeDisabled(row.url, jumps),
        "a delivery is held while its webhook is disabled",
      );
    case "exhausted":
      return rule(row.failures >= 10, "a delivery is tried ten times");
    default:
      rule(row.failures > 1, "a delivery waits only for its schedule");
  }
}

function checkReceipt(receipt: Receipt, sellers: readonly Seller[]): void {
  const { url, headers, body } = receipt;
  const text = new TextDecoder().decode(body);
  const rule = (holds: boolean, words: string) =>
    hold(holds, "true", words, { url, headers, text });
  const [, owner, trigger] = new URL(url).pathname.split("/");
  const seller = sellers.find(({ plan }) => plan.name === owner);
  rule(seller !== undefined, "an endpoint is a seller's");
  if (seller === undefined) return;
  const secrets = [...seller.secrets];
  const id = headers["webhook-id"];
  const isJson = headers["content-type"] === "application/json";
  const member = (name: string, value: string) =>
    isJson ? `"${name}":"${value}"` : `<${name}>${value}</${name}>`;
  rule(text.startsWith(isJson ? "{" : "<event"), "a delivery is an event");
  rule(text.includes(member("id", id)), "a delivery names its event");
  rule(text.includes(member("trigger", trigger)), "it is of this trigger");
  rule(
    secrets.some((secret) => isSigned(receipt, secret)),
    "a delivery is signed",
  );
  if (/^(<event test="true">|{"test":true,)/.test(text)) return;
  const event = seller.events.find((event) => event.id === id);
  rule(event !== undefined || seller.removed, "the event was handed in");
  if (event !== undefined) checkData(event, text, rule);
}

function checkData(
  { data }: KnownEvent,
  text: string,
  rule: (holds: boolean, words: string) => void,
): void {
  rule(
    text.includes(`<data>${data}</data>`) || text.includes(inJson(data)) ||
      // In JSON an empty text is sent as null, and delivered unchanged.
      text.includes(inJson(data).replace('"t":""', '"t":null')) ||
      // An empty text that was sent in JSON becomes the shortest XML.
      text.includes(`<data>${data.replace("<t></t>", "<t/>")}</data>`),
    "its data are as handed in",
  );
}

/** The data of `shop.ts`, in JSON. */
function inJson(data: string): string {
  return data.replace(
    /<n a="1">(.*)<\/n><t>(.*)<\/t>/,
    '"data":{"n":{"@a":"1","#text":"$1"},"t":"$2"}',
  );
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Nothing is sent for a suspended seller. */
function checkSuspended({ stage }: Scene, seller: Seller): void {
  for (const { from, to } of seller.suspensions) {
    const sent = stage.rows(
      `SELECT d.id, a.started_at FROM deliveries d
       JOIN sellers s ON s.seller_no = d.seller_no
       JOIN delivery_attempts a ON a.delivery_id = d.id
       WHERE s.id = ? AND a.started_at > ? AND a.started_at < ?`,
      seller.id,
      from,
      to,
    );
    hold(sent.length === 0, "true", "a suspended seller is sent nothing", sent);
  }
}

/** The longest time between loading a secret and signing with it. */
const LOADED_MS = 30_000;

/** A secret goes on signing for a day after another follows it. */
function checkSecrets(receipt: Receipt, sellers: readonly Seller[]): void {
  const { url, at } = receipt;
  const [, owner, trigger] = new URL(url).pathname.split("/");
  const seller = sellers.find(({ plan }) => plan.name === owner);
  if (seller === undefined) return;
  for (const own of seller.hookSecrets) {
    const { secret, madeAt, endedAt } = own;
    if (own.trigger !== trigger || madeAt > at - LOADED_MS) continue;
    if (endedAt < at) continue;
    const words = "a delivery is signed with the secrets of its webhook";
    hold(isSigned(receipt, secret), "true", words, { url, madeAt, at });
    sometimes("a webhook signs with its own secret");
  }
  if (seller.rotated.has(trigger)) return;
  for (const { secret, madeAt } of seller.ownSecrets) {
    hold(
      madeAt > at - LOADED_MS || isSigned(receipt, secret),
      "true",
      "a delivery is signed with former secrets, too",
      { url, madeAt, at },
    );
  }
}

/** The time within which an attempt begins if nothing prevents it. */
const PROMPT_MS = 35;
/** The most attempts in flight to one URL. */
const IN_FLIGHT = 4;

function checkPrompt({ stage }: Scene): void {
  const late = stage.rows(
    `SELECT d.id, d.created_at, a.started_at FROM deliveries d
     JOIN delivery_attempts a ON a.delivery_id = d.id AND a.number = 1
     WHERE a.started_at > d.created_at + ?
       AND (SELECT COUNT(*) FROM deliveries o
            JOIN delivery_attempts b ON b.delivery_id = o.id
            WHERE o.webhook_id = d.webhook_id AND o.id <> d.id
              AND b.started_at <= a.started_at
              AND b.started_at + b.duration_ms >= d.created_at - 10) < ?`,
    PROMPT_MS,
    IN_FLIGHT,
  );
  hold(late.length === 0, "fair", "a delivery begins at once", late);
}

/** The earliest retry: after 5 s, less a fifth. */
const EARLIEST_MS = 4_000;
/** How long an attempt waits for the answer. */
const TIMEOUT_MS = 20_000;
/** The pause that `busy` endpoints request. */
const RETRY_AFTER_MS = 30_000;
/**
 * An outcome that could not be recorded within this time may be lost with its
 * process.
 */
const RECORDED_MS = 20_000;

/**
 * While nothing fails, no delivery is repeated too early, or without a reason.
 */
function checkRepetitions(
  { stage, trouble }: Scene,
  sellers: readonly Seller[],
): void {
  const replayed = new Set(sellers.flatMap((one) => [...one.replayed]));
  const last = new Map<string, Receipt>();
  for (const receipt of stage.receipts()) {
    const { url, headers, at } = receipt;
    const id = headers["webhook-id"];
    const former = last.get(`${url} ${id}`);
    last.set(`${url} ${id}`, receipt);
    if (former === undefined || replayed.has(id)) continue;
    if (!["takes", "hesitates"].includes(mannerOf(url))) continue;
    if (trouble.anyWithin(former.at - RECORDED_MS, at)) continue;
    const { status } = former;
    const isDone = status !== null && isSuccess(status);
    const isAskedFor = sellers.some((seller) =>
      seller.recoveries.some((recovery) =>
        url.includes(`/${seller.name}/${recovery.trigger}/`) &&
        recovery.at > former.at - RECORDED_MS && recovery.at < at
      )
    );
    if (isAskedFor && !isDone) continue;
    const least = isDone
      ? Infinity
      : status === 429
      ? RETRY_AFTER_MS
      : url.startsWith("http://forgetful.")
      ? TIMEOUT_MS + EARLIEST_MS
      : EARLIEST_MS;
    hold(
      at - former.at >= least,
      "true",
      `a delivery that was answered ${status} is not sent again so soon`,
      { url, id, first: former.at, then: at },
    );
  }
}
