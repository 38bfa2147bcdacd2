/** The rows of the table of endpoints. */
import type { Answer, AnswerName } from "../../contracts/answers.ts";
import type {
  Documentation,
  EndpointAddress,
} from "../../contracts/endpoint.ts";
import type { NeededScope } from "../../sellers/scopes.ts";
import type { Exchange, Needs } from "./exchange.ts";
import type { Streamed } from "./sending.ts";

/** `A`: the kinds of answer in XML; none by default. */
export interface Reply<A extends AnswerName = never> {
  /** 200 by default. */
  status?: number;
  /** The content of `<service>`. */
  xml?: Answer<A>;
  /** A body that is already encoded, instead of `xml`; null for none. */
  body?: string | Uint8Array<ArrayBuffer> | Streamed | null;
  headers?: Record<string, string>;
}

export type Handler<A extends AnswerName = never> = (
  exchange: Exchange,
) => Promise<Reply<A>>;

/** A handler with its documentation. */
export interface Endpoint extends Needs {
  handler: Handler<AnswerName>;
  /** Null for an endpoint that is for browsers only. */
  documentation: Documentation | null;
}

/** An endpoint and its address. */
export type Route = EndpointAddress & Endpoint;

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

/** A method and a path. */
type Request = `${EndpointAddress["method"]} /${string}`;

/** The routes of a table, whose keys are methods and paths below `base`. */
export function routes(
  access: Exclude<EndpointAddress["access"], "seller">,
  base: string,
  table: Readonly<Record<Request, Endpoint>>,
): Route[] {
  return Object.entries(table).map(([request, endpoint]) => (
    { ...addressOf(base, request), access, ...endpoint }
  ));
}

/** Like `routes`, for sellers: each route with the scope that a key needs. */
export function sellerRoutes(
  base: string,
  table: Readonly<Record<Request, readonly [NeededScope, Endpoint]>>,
): Route[] {
  return Object.entries(table).map(([request, [scope, endpoint]]) => (
    { ...addressOf(base, request), access: "seller", scope, ...endpoint }
  ));
}

/** Routes by which operators read what a seller reads with the given routes. */
export function operatorViewsOf(sellers: readonly Route[]): Route[] {
  return sellers.filter(({ method }) => method === "GET").map((
    { scope: _, path, handler, ...route },
  ) => ({
    ...route,
    path: `/operator_api/sellers/:seller${path}`,
    access: "operator",
    handler: async (exchange) => {
      await exchange.view(exchange.params.seller);
      return await handler(exchange);
    },
  }));
}

function addressOf(base: string, request: string) {
  const [method, path] = request.split(" ") as [
    EndpointAddress["method"],
    string,
  ];
  return { method, path: base + path };
}
