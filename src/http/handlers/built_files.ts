/**
 * Files that `deno task build` makes. They are not in the repository; a
 * compiled program contains them.
 */

/** The content of a built file; throws an error that says how to build it. */
async function builtFile<T>(files: Promise<{ default: T }>): Promise<T> {
  try {
    return (await files).default;
  } catch (error) {
    const message = "The page and the client are not built: " +
      "run `deno task build`.";
    throw new Error(message, { cause: error });
  }
}

/** The page's scripts by name. */
export const PAGE_SCRIPTS = await builtFile(
  import("../../web/dist/scripts.json", { with: { type: "json" } }),
);

/** The typed client as a script, and its types. */
export const CLIENT_SCRIPT = await builtFile(
  import("../../client/dist/client.js", { with: { type: "text" } }),
);
export const CLIENT_TYPES = await builtFile(
  import("../../client/dist/client.d.ts", { with: { type: "text" } }),
);
