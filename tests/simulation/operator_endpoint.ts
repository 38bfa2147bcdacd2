/** The operator's endpoint for notices. */
import type { Fault } from "./fault.ts";
import type { HostDefinition, Reaction, ReceivedRequest } from "./network.ts";

export const OPERATOR_HOST = "ops.example";
export const NOTICES_SECRET = `whsec_${
  btoa("thirty-two bytes of no entropy..")
}`;

/** A request that the endpoint received, and whether it accepted it. */
export type ToOperator =
  & Pick<ReceivedRequest, "client" | "headers" | "body" | "at">
  & { isTaken: boolean };

const REFUSAL: Reaction = { status: 500 };

export class OperatorEndpoint {
  readonly requests: ToOperator[] = [];
  readonly faults: readonly Fault[];
  #refusal: Reaction | null = null;

  constructor() {
    const refusing = (name: string, reaction: Reaction): Fault => ({
      name,
      of: "network",
      begin: () => {
        this.#refusal = reaction;
        return () => void (this.#refusal = null);
      },
    });
    this.faults = [
      refusing("the operator's endpoint fails", REFUSAL),
      refusing("the operator's endpoint is silent", "silence"),
    ];
  }

  find(name: string): HostDefinition | null {
    if (name !== OPERATOR_HOST) return null;
    return { answer: (request) => this.#answer(request) };
  }

  #answer({ client, headers, body, at }: ReceivedRequest): Reaction {
    const isTaken = this.#refusal === null;
    this.requests.push({ client, headers, body, at, isTaken });
    return this.#refusal ?? { status: 204 };
  }
}
