/** A small receiver of OpenTelemetry's protocol, as JSON over HTTP. */

export interface Span {
  name: string;
  traceId: string;
  spanId: string;
  /** "" for the root of a trace. */
  parentSpanId: string;
  attributes: Record<string, unknown>;
  /** 2 stands for failed. */
  status: number;
}

interface SentSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status?: { code?: number };
}

interface Sent {
  resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[];
}

export class OtlpReceiver implements AsyncDisposable {
  readonly spans: Span[] = [];
  /** Everything that was sent, unparsed. */
  text = "";
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#receive(request),
    );
  }

  /** The settings with which a process sends its traces here. */
  env(): Record<string, string> {
    return {
      OTEL_DENO: "true",
      OTEL_DENO_METRICS: "false",
      OTEL_DENO_CONSOLE: "ignore",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${this.#server.addr.port}`,
    };
  }

  async #receive(request: Request): Promise<Response> {
    const text = await request.text();
    if (!request.url.endsWith("/v1/traces")) return Response.json({});
    this.text += text;
    const { resourceSpans }: Sent = JSON.parse(text);
    const spans = resourceSpans.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) => spans)
    );
    for (const { name, traceId, spanId, ...span } of spans) {
      this.spans.push({
        name,
        traceId,
        spanId,
        parentSpanId: span.parentSpanId ?? "",
        attributes: Object.fromEntries(
          span.attributes.map(({ key, value }) => [
            key,
            Object.values(value)[0],
          ]),
        ),
        status: span.status?.code ?? 0,
      });
    }
    return Response.json({});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
