/** The rows of the table of endpoints. */
import type { AnswerName } from "../../contracts/answers.ts";
import type { Address, Documentation } from "../../contracts/endpoint.ts";
import type { Handler } from "./context.ts";

/** What a handler needs of the server. */
interface Needs {
  /** Expensive: limited for each seller and in total. */
  upload?: boolean;
  /** Waits on purpose, so a slow answer is not logged. */
  waits?: boolean;
}

/** What an address leads to. */
export interface Endpoint extends Needs {
  handler: Handler<AnswerName>;
  /** Null for what is for browsers only. */
  documentation: Documentation | null;
}

/** An endpoint and its address. */
export type Route = Address & Endpoint;

/** The answers of the handler are of the documented kinds, `A`. */
type Documented<A extends AnswerName> =
  & Needs
  & Documentation
  & { answers: readonly A[] | { type: string } | null };

export function endpoint<A extends AnswerName = never>(
  documented: Documented<A> | null,
  handler: Handler<NoInfer<A>>,
): Endpoint {
  if (documented === null) return { handler, documentation: null };
  const { upload, waits, ...documentation } = documented;
  return { upload, waits, handler, documentation };
}

/** The routes of a table, whose keys are methods and paths below `base`. */
export function routes(
  access: Address["access"],
  base: string,
  table: Readonly<Record<`${Address["method"]} /${string}`, Endpoint>>,
): Route[] {
  return Object.entries(table).map(([key, endpoint]) => {
    const [method, path] = key.split(" ") as [Address["method"], string];
    return { method, path: base + path, access, ...endpoint };
  });
}
