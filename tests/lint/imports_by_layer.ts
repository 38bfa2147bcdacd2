/// <reference lib="deno.unstable" />
import type { SourceRule } from "./source_rule.ts";

/**
 * From the bottom; a module may import from its own folder and from below.
 * Features stand side by side and may import each other.
 */
const LAYERS: readonly (readonly string[])[] = [
  ["lib"],
  ["deps.ts", "version.ts"],
  ["config.ts", "xml", "net", "docs", "client"],
  ["json"],
  ["database", "object_storage"],
  ["jobs"],
  [
    "catalogue",
    "images",
    "imports",
    "reviews",
    "webhooks",
    "notices",
    "sellers",
    "operations",
    "services.ts",
  ],
  ["contracts", "web"],
  ["http"],
  ["app.ts"],
  ["sandbox"],
  ["cli"],
];
const FEATURES = LAYERS[6];

/** They build everything, so they import from inside the features. */
const BUILDERS = ["app.ts", "services.ts"];

/**
 * Modules inside a feature that others may import: the images' bytes are behind
 * one interface, which requests and commands use as the worker does.
 */
const OPEN = ["images/storage/blob_store.ts", "images/storage/open.ts"];

/** Holds the source to "Who may import whom" of src/docs/architecture.md. */
export const importsByLayer: SourceRule = (module, context) => {
  const { filename } = context;
  const root = filename.slice(0, -module.length);
  const check = ({ source }: { source: Deno.lint.Node | null }) => {
    if (source?.type !== "Literal" || typeof source.value !== "string") return;
    if (!source.value.startsWith(".")) return;
    const { pathname } = new URL(source.value, `file://${filename}`);
    if (!pathname.startsWith(root)) return;
    const message = problemOf(module, pathname.slice(root.length));
    if (message !== null) context.report({ node: source, message });
  };
  return {
    ImportDeclaration: check,
    ExportNamedDeclaration: check,
    ExportAllDeclaration: check,
    ImportExpression: check,
  };
};

/** What is wrong with an import; both are paths from `src/`. */
function problemOf(module: string, imported: string): string | null {
  const [folder] = module.split("/");
  const [place, ...path] = imported.split("/");
  if (place === folder) return null;
  const [from, to] = [layerOf(folder), layerOf(place)];
  if (from === -1 || to === -1) {
    return `${from === -1 ? folder : place} is in no layer`;
  }
  const areFeatures = FEATURES.includes(folder) && FEATURES.includes(place);
  if (to >= from && !areFeatures) {
    return `${folder} may not import ${place}, which is beside or above it`;
  }
  const isInside = FEATURES.includes(place) && path.length > 1;
  if (isInside && !BUILDERS.includes(module) && !OPEN.includes(imported)) {
    return `only modules at the top of ${place} may be imported`;
  }
  return null;
}

function layerOf(place: string): number {
  return LAYERS.findIndex((places) => places.includes(place));
}
