/** Hides controls from an operator who is reading a seller's view. */
import type { ComponentChildren } from "preact";
import { viewedSeller } from "../state/route.ts";

/** Draws its children unless an operator is reading a seller's view. */
export function UnlessViewing({ children }: { children: ComponentChildren }) {
  return viewedSeller() === null ? <>{children}</> : null;
}
