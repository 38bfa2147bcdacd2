/** The texts of mails to sellers and of requests to the operator. */
import { createHash } from "node:crypto";
import type { Mail } from "../net/smtp.ts";
import { linkSignature } from "../sellers/email.ts";
import { KINDS } from "./kinds.ts";
import { type Detail, type Notice, NOTICES_IN_A_MAIL } from "./notice.ts";
import type { Addressee } from "./rows.ts";

/** The most notices that a mail lists; the rest is counted. */
const LISTED = 30;

/** A notice in words, with the link to its page. */
export interface NoticeText {
  kind: string;
  text: string;
  link: string;
}

/** Null for a kind that a later version made. */
export function noticeText(
  { kind, detail }: { kind: string; detail: Detail },
  publicUrl: string,
): NoticeText | null {
  const known = KINDS.get(kind);
  if (known === undefined) return null;
  const link = `${publicUrl}/#/${known.view(detail)}`;
  return { kind, text: known.text(detail), link };
}

/** The path at which a seller ends its mail, or begins it again. */
export function subscriptionPath({ id, emailKey }: Addressee): string {
  return `/notices/${id}/${linkSignature(emailKey, { id })}`;
}

/** One mail with all notices; the same notices always give the same mail. */
export function digest(
  notices: readonly Notice[],
  to: Addressee,
  { id, publicUrl }: { id: string; publicUrl: string },
): Mail {
  const all = noticeLines(notices, publicUrl);
  const listed = all.slice(0, LISTED);
  const more = all.length - listed.length;
  const link = publicUrl + subscriptionPath(to);
  const text = [
    ...listed.map(({ text, link }) => `${text}\n${link}`),
    ...(more > 0 ? [`And ${more} more, at ${publicUrl}/`] : []),
    `--\nYou get this because this address is the one of ${to.name}; at most ` +
    `one mail an hour. To end these mails:\n${link}`,
  ].join("\n\n") + "\n";
  return {
    to: to.email,
    subject: all.length === 1
      ? `${to.name}: ${firstSentence(all[0].text)}`
      : `${to.name}: ${all.length} things to know`,
    text,
    id,
    // The notices are in order of time.
    date: notices[notices.length - 1].createdAt,
    headers: {
      "List-Unsubscribe": `<${link}>`,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    },
  };
}

/** More notices of one kind are summarised. */
const ONE_BY_ONE = 5;

/** In the order of the notices, with many of one kind in one. */
function noticeLines(
  notices: readonly Notice[],
  publicUrl: string,
): NoticeText[] {
  const byKind = Map.groupBy(notices, ({ kind }) => kind);
  return [...byKind].flatMap(([kind, own]) => {
    const many = KINDS.get(kind)?.many;
    if (many === undefined || own.length <= ONE_BY_ONE) {
      return own.flatMap((notice) => noticeText(notice, publicUrl) ?? []);
    }
    const link = `${publicUrl}/#/${many.view}`;
    // Beyond those that may wait they are not counted.
    const count = `${own.length}${
      own.length < NOTICES_IN_A_MAIL ? "" : " or more"
    }`;
    return [{ kind, text: many.text(count), link }];
  });
}

const SUBJECT_LENGTH = 100;

function firstSentence(text: string): string {
  const [first] = text.split(/[.:] /, 1);
  return first.length <= SUBJECT_LENGTH
    ? first.replace(/\.$/, "")
    : `${first.slice(0, SUBJECT_LENGTH)}…`;
}

/** A notice to the operator, as Standard Webhooks writes a payload. */
export function operatorPayload(
  { kind, detail, createdAt }: Pick<Notice, "kind" | "detail" | "createdAt">,
  publicUrl: string,
): string | null {
  const notice = noticeText({ kind, detail }, publicUrl);
  if (notice === null) return null;
  const { text, link } = notice;
  return JSON.stringify({
    type: kind,
    timestamp: new Date(createdAt).toISOString(),
    data: { text, link, ...detail },
  });
}

/** The `webhook-id` of a payload: what is said again has the same one. */
export function payloadId(payload: string): string {
  const hash = createHash("sha256").update(payload);
  return `notice_${hash.digest("hex").slice(0, 32)}`;
}
