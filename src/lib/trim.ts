/**
 * The text without any of these characters at its end. A regular expression
 * `/[xy]+$/` needs quadratic time.
 */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1])) end--;
  return text.slice(0, end);
}
