/** The same request as a line for a shell. */
export function asCurl(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  return [
    `curl -i ${quoted(url)}`,
    ...Object.entries({
      "Content-Type": "text/xml; charset=utf-8",
      ...headers,
    }).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-binary ${quoted(body)}`,
  ].join(" \\\n  ");
}
