/** An input that chooses one of the seller's contacts for a product. */
import type { JSX } from "preact";
import type { Client } from "../../client/mod.ts";
import { linkTo } from "../state/route.ts";
import { ErrorNote, useLoaded } from "./components.tsx";

/** The number of contacts that one request returns. */
const PAGE_SIZE = 250;

/**
 * Offers all contacts, and the current one even if it has been deleted. `common`
 * are the properties that all inputs of the form have.
 */
export function ContactChoice({ client, common, onText }: {
  client: Client;
  common: JSX.IntrinsicElements["select"] & { value: string };
  onText: (text: string) => void;
}) {
  const { data, error, reload } = useLoaded(
    (signal) => contactNames(client, signal),
    [client],
  );
  const names = data ?? [];
  const { value } = common;
  return (
    <>
      <select
        {...common}
        onChange={(event) => onText(event.currentTarget.value)}
      >
        <option value="">– not set –</option>
        {value !== "" && !names.includes(value) && (
          <option value={value}>
            {data === null ? value : `${value} (deleted)`}
          </option>
        )}
        {names.map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
      {data?.length === 0 && (
        <a href={linkTo("contacts")}>Add a contact first</a>
      )}
      {error && <ErrorNote error={error} onRetry={reload} />}
    </>
  );
}

/** The names of all contacts, in the order of the service's list. */
export async function contactNames(
  client: Client,
  signal?: AbortSignal,
): Promise<string[]> {
  const names: string[] = [];
  const pages = client.contacts.list({ limit: PAGE_SIZE }, { signal }).pages();
  for await (const { contacts } of pages) {
    for (const { name } of contacts) names.push(name);
  }
  return names;
}
