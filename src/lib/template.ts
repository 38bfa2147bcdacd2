/**
 * An object to copy with `{ ...template }` before its properties are set. V8
 * records for each property which kinds of values it has held. A copy whose
 * property gets a new kind of value gets another layout, which takes ten times
 * as long. So this function sets each property of the template to a value of
 * each kind first.
 */
export function templateOf<T extends object>(values: T): T {
  const template = { ...values } as Record<string, unknown>;
  for (const name in template) {
    for (const value of [0, 0.5, "", null]) template[name] = value;
  }
  return Object.assign(template, values);
}
