/** Which form of an answer a client prefers. */

/** How much a client wants a media type, from 0 to 1 (RFC 9110, 12.5.1). */
function weightOf(accept: string, type: string): number {
  const [main] = type.split("/");
  let weight = 0;
  let precision = 0;
  for (const range of accept.split(",")) {
    const [name, ...parameters] = range.split(";")
      .map((part) => part.trim().toLowerCase());
    const precise = [undefined, "*/*", `${main}/*`, type].indexOf(name);
    if (precise < 1 || precise < precision) continue;
    const quality = parameters.find((one) => one.startsWith("q="));
    const given = quality === undefined ? 1 : Number(quality.slice(2));
    precision = precise;
    weight = given >= 0 && given <= 1 ? given : 0;
  }
  return weight;
}

/** Whether JSON is preferred; what is wanted as much as XML is XML. */
export function prefersJson(accept: string | null): boolean {
  if (accept === null || accept === "*/*") return false;
  const json = weightOf(accept, "application/json");
  return json > weightOf(accept, "text/xml") &&
    json > weightOf(accept, "application/xml");
}
