/** The texts of mails to sellers and of requests to the operator. */
import { createHash } from "node:crypto";
import type { Mail } from "../net/smtp.ts";
import { linkSignature } from "../sellers/email.ts";
import { KINDS } from "./kinds.ts";
import { type Detail, type Notice, NOTICES_IN_A_MAIL } from "./notice.ts";
import type { Addressee } from "./rows.ts";

/** The most notices that a mail lists; the others are counted. */
const LISTED = 30;

/** The text of a notice, with the link to its page. */
export interface NoticeText {
  kind: string;
  text: string;
  link: string;
}

/** Null for a kind that only a later version knows. */
function noticeText(
  { kind, detail }: { kind: string; detail: Detail },
  publicUrl: string,
): NoticeText | null {
  const known = KINDS.get(kind);
  if (known === undefined) return null;
  const link = `${publicUrl}/#/${known.view(detail)}`;
  return { kind, text: known.text(detail), link };
}

/** The path of the page on which a seller stops or restarts its mail. */
function subscriptionPath({ id, emailKey }: Addressee): string {
  return `/notices/${id}/${linkSignature(emailKey, { id })}`;
}

/**
 * One mail with all notices; the same notices always result in the same mail.
 */
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
    `--\nYou get this mail, at most once an hour, because this is the ` +
    `address of ${to.name}. To stop these mails:\n${link}`,
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

/** More notices of one kind than this become one line. */
const LINES_PER_KIND = 5;

/** Lines in the order of the notices; many notices of one kind are one line. */
function noticeLines(
  notices: readonly Notice[],
  publicUrl: string,
): NoticeText[] {
  const byKind = Map.groupBy(notices, ({ kind }) => kind);
  return [...byKind].flatMap(([kind, own]) => {
    const many = KINDS.get(kind)?.many;
    if (many === undefined || own.length <= LINES_PER_KIND) {
      return own.flatMap((notice) => noticeText(notice, publicUrl) ?? []);
    }
    const link = `${publicUrl}/#/${many.view}`;
    // Only this many notices of a kind may wait, so more events may have
    // happened.
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

/**
 * The payload of a notice to the operator, in the form of Standard Webhooks.
 */
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

/** The `webhook-id` of a payload: the same for equal payloads. */
export function payloadId(payload: string): string {
  const hash = createHash("sha256").update(payload);
  return `notice_${hash.digest("hex").slice(0, 32)}`;
}
