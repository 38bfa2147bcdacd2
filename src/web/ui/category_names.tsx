/** Suggestions of category names for an input. */
import type { Client } from "../../client/mod.ts";
import { useLoaded } from "./components.tsx";

/** The maximum number of suggestions. A longer text finds other categories. */
const SUGGESTION_LIMIT = 100;

/** A `<datalist>` with the category names that contain the typed text. */
export function CategorySuggestions({ client, id, text }: {
  client: Client;
  /** The id of the `<datalist>`. */
  id: string;
  /** The typed text. */
  text: string;
}) {
  const { data } = useLoaded(
    (signal) =>
      client.categories.list({ q: text, limit: SUGGESTION_LIMIT }, { signal }),
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
