import type { WebhookFormat } from "./events.ts";

const TYPES: Readonly<Record<WebhookFormat, string>> = {
  xml: "text/xml; charset=utf-8",
  json: "application/json",
};

/** The request of a delivery as a shell command. */
export function curlCommand(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  format: WebhookFormat,
): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  return [
    `curl -i ${quoted(url)}`,
    ...Object.entries({ "Content-Type": TYPES[format], ...headers }).map((
      [name, value],
    ) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-binary ${quoted(body)}`,
  ].join(" \\\n  ");
}
