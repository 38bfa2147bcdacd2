/** Receives the mails of a sandbox; prints each, and keeps the latest. */
import type { Mail, Mailer } from "../net/smtp.ts";

/** How many mails are kept. */
const KEPT = 20;

export interface MailSink extends Mailer {
  /** Shows the last mails, the newest first. */
  respond(): Response;
}

export function mailSink(print: (line: string) => void): MailSink {
  const kept: string[] = [];
  return {
    send(mail) {
      print(`mail to ${mail.to}: ${mail.subject}`);
      kept.push(shown(mail));
      if (kept.length > KEPT) kept.shift();
      return Promise.resolve({ outcome: "sent", reason: "" });
    },
    respond: () =>
      new Response(kept.toReversed().join("\n\n") + "\n", {
        headers: { "content-type": "text/plain; charset=utf-8" },
      }),
  };
}

function shown({ to, subject, text }: Mail): string {
  return `To: ${to}\nSubject: ${subject}\n\n${text}`;
}
