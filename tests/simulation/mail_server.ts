/**
 * A mail server as the service's mailer sees it, with the mails that it
 * accepted.
 */
import type { Mail, Mailer, MailResult } from "../../src/net/smtp.ts";
import type { Random } from "../support/random.ts";
import type { Fault } from "./fault.ts";
import type { Life } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";

/** A mail that the server accepted. */
export interface TakenMail extends Mail {
  /** Virtual milliseconds. */
  at: number;
  /** Whether the client got no answer. */
  isForgotten: boolean;
  /** Whether a mail to the same address was refused before. */
  isLate: boolean;
  /** Whether its repetition was refused. */
  isPutOff: boolean;
}

/** Faults that may last for a while. */
export const TROUBLES = {
  away: "the mail server is away",
  later: "the mail server wants mails later",
  forgetful: "the mail server forgets to answer",
} as const;
type Trouble = keyof typeof TROUBLES;
/** The probability of each for one mail, while faults are possible. */
const SHARE = 0.1;

const LATENCY_MS = 400;
/**
 * The time of an answer of a slow server, which answers twice: within the time
 * that a mail may take.
 */
const SLOW_MS = 12_000;
/** How long a client waits for an answer. */
const ANSWER_MS = 20_000;

export class SimulatedMailServer {
  readonly taken: TakenMail[] = [];
  readonly faults: readonly Fault[];
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #latencyMs: number;
  readonly #troubles = new Set<Trouble>();
  /** Addresses for which a mail was refused. */
  readonly #refused = new Set<string>();

  /** @param isPrompt whether it is never slow */
  constructor(scheduler: Scheduler, isPrompt: boolean) {
    this.#scheduler = scheduler;
    this.#random = scheduler.random("mail server");
    const isSlow = !isPrompt && this.#random.below(2) === 0;
    this.#latencyMs = isSlow ? SLOW_MS : LATENCY_MS;
    this.faults = Object.entries(TROUBLES).map(([trouble, name]) => ({
      name,
      of: "network",
      begin: () => {
        this.#troubles.add(trouble as Trouble);
        return () => void this.#troubles.delete(trouble as Trouble);
      },
    }));
  }

  /** The mailer of a process, whose connections end with it. */
  mailer({ enter, onEnd }: Pick<Life, "enter" | "onEnd">): Mailer {
    let hasEnded = false;
    onEnd(() => hasEnded = true);
    return {
      send: (mail, signal) =>
        new Promise((resolve) => {
          let isTaken = false;
          let isOver = false;
          const end = (outcome: MailResult["outcome"]) => {
            if (isOver) return;
            isOver = true;
            enter(() => resolve({ outcome, reason: outcome }));
          };
          signal.addEventListener(
            "abort",
            () => end(isTaken ? "unsure" : "away"),
          );
          this.#scheduler.after(this.#latency(), () => {
            if (isOver || hasEnded) return;
            for (const refusal of ["away", "later"] as const) {
              if (!this.#has(refusal)) continue;
              this.#refused.add(mail.to);
              const former = this.taken.find(({ id }) => id === mail.id);
              if (former !== undefined) former.isPutOff = true;
              return void this.#after(end, refusal);
            }
            isTaken = true;
            const isForgotten = this.#has("forgetful");
            this.#take(mail, isForgotten);
            if (isForgotten) {
              const giveUp = () => end("unsure");
              return void this.#scheduler.after(ANSWER_MS, giveUp);
            }
            this.#after(end, "sent");
          });
        }),
    };
  }

  #has(trouble: Trouble): boolean {
    return this.#troubles.has(trouble) ||
      (this.#scheduler.faulty && this.#random.next() < SHARE);
  }

  #latency(): number {
    return this.#random.next() * this.#latencyMs;
  }

  #after(
    end: (outcome: MailResult["outcome"]) => void,
    outcome: MailResult["outcome"],
  ): void {
    this.#scheduler.after(this.#latency(), () => end(outcome));
  }

  #take(mail: Mail, isForgotten: boolean): void {
    const at = this.#scheduler.time;
    const isLate = this.#refused.has(mail.to);
    const isPutOff = false;
    this.taken.push({ ...mail, at, isForgotten, isLate, isPutOff });
    this.#scheduler.trace(() =>
      `the mail server takes ${mail.id}: ${mail.subject}`
    );
  }
}
