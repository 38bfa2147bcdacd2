/** Hides controls from an operator, who can only read a seller's views. */
import type { ComponentChildren } from "preact";
import { viewedSeller } from "../state/route.ts";

/** Shows its children unless an operator reads a seller's view. */
export function UnlessReadOnly({ children }: { children: ComponentChildren }) {
  return viewedSeller() === null ? <>{children}</> : null;
}
