/** Writes XML the way an integrator would; independent of `src/xml/encode.ts`. */

/** Text between tags or quotes; a carriage return survives only as a reference. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"\r]/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** Text of an XML attribute, whose white space a reader turns into spaces. */
export function escapeAttribute(text: string): string {
  return text.replace(
    /[&<>"\r\n\t]/g,
    (char) => `&#${char.charCodeAt(0)};`,
  );
}
