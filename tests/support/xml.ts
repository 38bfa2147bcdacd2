/** Writes XML as an integrator would; independent of `src/xml/encode.ts`. */

/**
 * Escapes text between tags or quotes; a carriage return survives only as a
 * reference.
 */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"\r]/g, (char) => `&#${char.charCodeAt(0)};`);
}

/**
 * Escapes the text of an XML attribute, in which a reader turns white space
 * into spaces.
 */
export function escapeAttribute(text: string): string {
  return text.replace(
    /[&<>"\r\n\t]/g,
    (char) => `&#${char.charCodeAt(0)};`,
  );
}
