/** The rows of the table of endpoints. */
import type { Answer, AnswerName } from "../../contracts/answers.ts";
import type {
  Documentation,
  EndpointAddress,
} from "../../contracts/endpoint.ts";
import type { NeededScope } from "../../sellers/scopes.ts";
import type { Exchange, Needs } from "./exchange.ts";
import type { Streamed } from "./sending.ts";

/**
 * What a handler returns. `A` names the answers in `ANSWERS` that the handler
 * may return.
 */
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
  /** Null for an endpoint that is not part of the API, such as a page. */
  documentation: Documentation | null;
}

/** An endpoint and its address. */
export type Route = EndpointAddress & Endpoint;

/** The documentation of an endpoint whose handler returns the answers `A`. */
type Documented<A extends AnswerName> =
  & Needs
  & Documentation
  & { answers: readonly A[] | { type: string } | null };

/** Combines a handler with its documentation, null if it has none. */
export function endpoint<A extends AnswerName = never>(
  documented: Documented<A> | null,
  handler: Handler<NoInfer<A>>,
): Endpoint {
  if (documented === null) return { handler, documentation: null };
  const { upload, waits, ...documentation } = documented;
  return { upload, waits, handler, documentation };
}

/** A method and a path. */
type MethodAndPath = `${EndpointAddress["method"]} /${string}`;

/** The routes of a table, whose keys are methods and paths below `base`. */
export function routes(
  access: Exclude<EndpointAddress["access"], "seller">,
  base: string,
  table: Readonly<Record<MethodAndPath, Endpoint>>,
): Route[] {
  return Object.entries(table).map(([request, endpoint]) => (
    { ...addressOf(base, request), access, ...endpoint }
  ));
}

/** The routes for sellers, each with the scope that a key needs. */
export function sellerRoutes(
  base: string,
  table: Readonly<Record<MethodAndPath, readonly [NeededScope, Endpoint]>>,
): Route[] {
  return Object.entries(table).map(([request, [scope, endpoint]]) => (
    { ...addressOf(base, request), access: "seller", scope, ...endpoint }
  ));
}

/** For each GET of sellers, a route with which operators read the same data. */
export function operatorViewsOf(sellersRoutes: readonly Route[]): Route[] {
  return sellersRoutes.filter(({ method }) => method === "GET").map((
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
