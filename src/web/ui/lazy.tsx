/** Components whose code is loaded at their first use. */
import { type FunctionComponent, h, type JSX } from "preact";
import { STALE_PAGE } from "../lib/texts.ts";
import { ErrorNote, useLoaded } from "./components.tsx";

/** A component whose code `load` imports when the component is first drawn. */
export function lazy<P extends object>(
  load: () => Promise<FunctionComponent<P>>,
): (props: P) => JSX.Element {
  let loaded: FunctionComponent<P> | null = null;
  const loadOnce = async () => loaded ??= await load();
  return (props) => {
    const { error } = useLoaded(loadOnce, []);
    if (loaded !== null) return h(loaded, props);
    return error === null
      ? <p class="quiet">Loading…</p>
      : <ErrorNote error={error} message={STALE_PAGE} />;
  };
}
