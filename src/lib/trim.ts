/**
 * The text without this character at its end, repeated or not. A regular
 * expression `/x+$/` needs quadratic time.
 */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}
