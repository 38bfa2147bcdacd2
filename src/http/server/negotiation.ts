/** Finds the format in which a client prefers its answer. */

const JSON_TYPE = "application/json";

/** The weight of a media type in `Accept`, from 0 to 1 (RFC 9110, 12.5.1). */
function weightOf(accept: string, type: string): number {
  const [main] = type.split("/");
  let weight = 0;
  let precision = 0;
  for (const range of accept.split(",")) {
    const [name, ...parameters] = range.split(";")
      .map((part) => part.trim().toLowerCase());
    const rangePrecision = [undefined, "*/*", `${main}/*`, type].indexOf(name);
    if (rangePrecision < 1 || rangePrecision < precision) continue;
    const quality = parameters.find((text) => text.startsWith("q="));
    const value = quality === undefined ? 1 : Number(quality.slice(2));
    precision = rangePrecision;
    weight = value >= 0 && value <= 1 ? value : 0;
  }
  return weight;
}

/**
 * Whether an answer is JSON. If `Accept` prefers neither JSON nor XML, the
 * answer has the format of the request's body, or XML without a body.
 */
export function prefersJson(headers: Headers): boolean {
  const accept = headers.get("accept") ?? "*/*";
  const json = accept === "*/*" ? 1 : weightOf(accept, JSON_TYPE);
  const xml = accept === "*/*" ? 1 : Math.max(
    weightOf(accept, "text/xml"),
    weightOf(accept, "application/xml"),
  );
  return json > xml || (json === xml && sendsJson(headers));
}

function sendsJson(headers: Headers): boolean {
  const [type] = (headers.get("content-type") ?? "").split(";");
  return type.trim().toLowerCase() === JSON_TYPE;
}
