/** The signature of a delivery, as Standard Webhooks defines it. */

/** The headers of an attempt at delivering `body`. */
export async function signedHeaders(
  secret: string,
  id: string,
  /** Unix seconds. */
  timestamp: number,
  body: string,
): Promise<Record<string, string>> {
  const bytes = Uint8Array.from(
    atob(secret.trim().replace("whsec_", "")),
    (char) => char.charCodeAt(0),
  );
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, [
    "sign",
  ]);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
  // bounded: 32 bytes
  const code = btoa(String.fromCharCode(...mac));
  return {
    "webhook-id": id,
    "webhook-timestamp": `${timestamp}`,
    "webhook-signature": `v1,${code}`,
  };
}

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
