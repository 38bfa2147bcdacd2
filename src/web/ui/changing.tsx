/** Controls that an operator who looks at a seller's view does not get. */
import type { ComponentChildren } from "preact";
import { viewedSeller } from "../state/route.ts";

/** What changes something: not for an operator who looks at a seller's view. */
export function UnlessViewing({ children }: { children: ComponentChildren }) {
  return viewedSeller() === null ? <>{children}</> : null;
}
