/** Names of categories in fields. */
import type { Client } from "../../client/mod.ts";
import { useLoaded } from "./components.tsx";

/**
 * The most categories that are suggested; a longer text finds others.
 */
const OFFERED = 100;

/** Suggests names of categories during typing. */
export function CategoryNames({ client, id, text }: {
  client: Client;
  /** The id of the `<datalist>`. */
  id: string;
  /** The typed text. */
  text: string;
}) {
  const { data } = useLoaded(
    (signal) => client.categories.list({ q: text, limit: OFFERED }, { signal }),
    [client, text],
  );
  return (
    <datalist id={id}>
      {data?.categories.category?.map(({ name }) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}
