/// <reference lib="deno.unstable" />
import type { SourceRule } from "./source_rule.ts";

/**
 * Features from the bottom up; those in the same row do not import each other.
 */
const FLOORS: readonly (readonly string[])[] = [
  ["monitoring"],
  ["sellers"],
  ["images", "webhooks"],
  ["catalogue"],
  ["categories", "imports", "reviews"],
  ["notices"],
  ["administration"],
];
const FEATURES = FLOORS.flat();

/**
 * Names the types of all services: features import it, and it imports the types
 * of the services.
 */
const SERVICES = "services.ts";

/**
 * From the bottom up; a module may import from its own folder and from those
 * below.
 */
const LAYERS: readonly (readonly string[])[] = [
  ["lib"],
  ["deps.ts", "version.ts"],
  ["config.ts", "xml", "net", "docs", "client"],
  ["json"],
  ["database", "object_storage"],
  ["jobs"],
  ...FLOORS,
  [SERVICES],
  ["contracts", "web"],
  ["http"],
  ["open_services.ts", "roles.ts"],
  ["app.ts"],
  ["sandbox"],
  ["cli"],
];

/** These modules build everything, so they import from inside the features. */
const BUILDERS = ["open_services.ts", "roles.ts"];

/**
 * Modules inside a feature that others may import: the images' bytes are behind
 * one interface, which requests and commands use as the worker does.
 */
const OPEN = ["images/storage/blob_store.ts", "images/storage/open.ts"];

/**
 * The areas of the page, from the bottom up; those in the same row do not
 * import each other.
 */
const ROOMS: readonly (readonly string[])[] = [
  ["lib"],
  ["state"],
  ["ui"],
  ["pictures"],
  ["import/read"],
  ["import/shops"],
  ["import/columns"],
  ["import/check"],
  ["import/send"],
  ["import/repair"],
  ["import"],
  ["products", "uploads", "webhooks", "keys", "contacts", "operator"],
  ["shell"],
  ["page.tsx", "workbook.ts"],
];

/** Enforces "Who may import whom" of src/docs/architecture.md. */
export const importsByLayer: SourceRule = (module, context) => {
  const { filename } = context;
  const root = filename.slice(0, -module.length);
  const check = ({ source }: { source: Deno.lint.Node | null }) => {
    if (source?.type !== "Literal" || typeof source.value !== "string") return;
    if (!source.value.startsWith(".")) return;
    const { pathname } = new URL(source.value, `file://${filename}`);
    if (!pathname.startsWith(root)) return;
    const imported = pathname.slice(root.length);
    const message = problemOf(module, imported) ??
      problemInPage(module, imported);
    if (message !== null) context.report({ node: source, message });
  };
  const checkImport = (node: Deno.lint.ImportDeclaration) => {
    check(node);
    if (module.endsWith(".ts") && node.source.value.endsWith(".tsx")) {
      const message = "a module that draws nothing may not import one that " +
        "does";
      context.report({ node: node.source, message });
    }
  };
  return {
    ImportDeclaration: checkImport,
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
  const isNaming = place === SERVICES && FEATURES.includes(folder);
  if (to >= from && !isNaming) {
    return `${folder} may not import ${place}, which is beside or above it`;
  }
  const isInside = FEATURES.includes(place) && path.length > 1;
  if (isInside && !BUILDERS.includes(module) && !OPEN.includes(imported)) {
    return `only modules at the top of ${place} may be imported`;
  }
  return null;
}

/** What is wrong with an import within the page. */
function problemInPage(module: string, imported: string): string | null {
  const [from, to] = [roomOf(module), roomOf(imported)];
  if (from === null || to === null || from === to) return null;
  const layerOf = (room: string) =>
    ROOMS.findIndex((rooms) => rooms.includes(room));
  const [own, other] = [layerOf(from), layerOf(to)];
  if (own === -1 || other === -1) {
    return `${own === -1 ? from : to} is in no room of the page`;
  }
  return other > own ? `${from} may not import ${to}, which is above it` : null;
}

/** The area of a module of the page; null if it has none. */
function roomOf(module: string): string | null {
  const [folder, room, ...path] = module.split("/");
  if (folder !== "web") return null;
  const inner = `${room}/${path[0]}`;
  return ROOMS.some((rooms) => rooms.includes(inner)) ? inner : room;
}

function layerOf(place: string): number {
  return LAYERS.findIndex((places) => places.includes(place));
}
