/**
 * An object to copy with `{ ...template }` before its properties are set. V8
 * notes for each property which kinds of values it has held, and gives a copy
 * another layout that gets a value of another kind: ten times the time of
 * copying and setting. So each property of a template has held all kinds.
 */
export function templateOf<T extends object>(values: T): T {
  const template = { ...values } as Record<string, unknown>;
  for (const name in template) {
    for (const value of [0, 0.5, "", null]) template[name] = value;
  }
  return Object.assign(template, values);
}
