/**
 * Traces by Deno's built-in OpenTelemetry. Without OTEL_DENO=true no library is
 * loaded, and each function of this file costs one comparison.
 *
 * Attributes contain no SKU, value, key or URL, because traces leave the
 * machine.
 */
import type { Attributes, Span, Tracer } from "@opentelemetry/api";

/**
 * The runtime registers itself here, before any module runs, if tracing is on.
 */
const isOn = Symbol.for("opentelemetry.js.api.1") in globalThis;
const otel = isOn ? await import("@opentelemetry/api") : null;
const tracer = otel?.trace.getTracer("seller-interface");
if (tracer !== undefined) keepUrlsOut(tracer);

/**
 * The runtime writes URLs, which contain SKUs, into the spans that it creates;
 * setting such an attribute again only adds a second one. So the runtime's span
 * class is patched to ignore them.
 */
function keepUrlsOut(tracer: Tracer): void {
  const spans: Span = Object.getPrototypeOf(tracer.startSpan("never ended"));
  const { setAttribute } = spans;
  spans.setAttribute = function (this: Span, key, value) {
    return key.startsWith("url.") ? this : setAttribute.call(this, key, value);
  };
}

interface SpanOptions<T> {
  /** Whether the span belongs to no request. */
  root?: boolean;
  /** Computes attributes of the span from the result. */
  attributes?: (result: T) => Attributes;
}

/** Runs `work` in a new span; an error marks the span as failed. */
export function inSpan<T>(
  name: string,
  work: () => Promise<T>,
  { root = false, attributes }: SpanOptions<T> = {},
): Promise<T> {
  if (tracer === undefined) return work();
  return tracer.startActiveSpan(name, { root }, async (span) => {
    try {
      const result = await work();
      if (attributes !== undefined) span.setAttributes(attributes(result));
      return result;
    } catch (error) {
      fail(span, error instanceof Error ? error.name : "error");
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Records a finished span of `ms` milliseconds that belongs to no request. */
export function recordSpan(
  name: string,
  ms: number,
  attributes: Attributes,
): void {
  if (tracer === undefined) return;
  const endTime = Date.now();
  tracer.startSpan(name, { root: true, startTime: endTime - ms, attributes })
    .end(endTime);
}

/** Names the runtime's span of a request by its route. */
export function describeRequest(method: string, route: string): void {
  const span = otel?.trace.getActiveSpan();
  span?.updateName(`${method} ${route}`);
  span?.setAttribute("http.route", route);
}

/** Marks the span of a request as failed, with the code of its error. */
export function failRequest(code: string): void {
  const span = otel?.trace.getActiveSpan();
  if (span !== undefined) fail(span, code);
}

function fail(span: Span, type: string): void {
  span.setAttribute("error.type", type);
  span.setStatus({ code: otel!.SpanStatusCode.ERROR });
}

/** The fields of a log line that refer to the trace. */
export function traceFields(): { trace_id?: string } {
  const span = otel?.trace.getActiveSpan();
  return span === undefined ? {} : { trace_id: span.spanContext().traceId };
}

/** Binds `fn` to the active span: each call then belongs to it. */
export function boundToSpan<F extends (...args: never[]) => unknown>(fn: F): F {
  return otel === null ? fn : otel.context.bind(otel.context.active(), fn);
}
