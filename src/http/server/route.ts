/** The rows of the table of endpoints. */
import type { Answer, AnswerName } from "../../contracts/answers.ts";
import type { Address, Documentation } from "../../contracts/endpoint.ts";
import type { Exchange, Needs } from "./exchange.ts";

/** `A`: the kinds of answer in XML; none by default. */
export interface Reply<A extends AnswerName = never> {
  /** 200 by default. */
  status?: number;
  /** The content of `<service>`. */
  xml?: Answer<A>;
  /** A body that is already encoded, instead of `xml`; null for none. */
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
  headers?: Record<string, string>;
}

export type Handler<A extends AnswerName = never> = (
  exchange: Exchange,
) => Promise<Reply<A>>;

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
