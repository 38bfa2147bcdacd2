/** A note that offers the refused products of an upload for correction. */
import { UnlessReadOnly } from "../ui/changing.tsx";
import type { WatchedUpload } from "../state/background.ts";
import type { Client } from "../../client/mod.ts";
import { saveFile } from "../lib/browser.ts";
import { uploadTitle } from "../state/names.ts";
import { ErrorNote, useAction } from "../ui/components.tsx";
import { plural } from "../lib/format.ts";
import { goTo } from "../state/route.ts";
import { loadFiles } from "../import/open.ts";

export function RefusedProductsNote({ client, watched }: {
  client: Client;
  watched: WatchedUpload;
}) {
  const { busy, error, run } = useAction();
  const { refused = 0 } = watched.products;
  const name = `refused-${uploadTitle(watched)}`;
  const download = async () => {
    const { refusedFile } = await loadFiles();
    const { content, ending } = await refusedFile(client, watched, name);
    saveFile(content, `${name.replace(/\.\w+$/, "")}.${ending}`);
  };
  const correct = async () => {
    const { correctRefused } = await loadFiles();
    await correctRefused(client, watched, name);
    goTo("upload");
  };
  return (
    <div class="note warn">
      <p class="row">
        <span class="grow">
          {plural(refused, "product")}{" "}
          refused. Correct these products here, or in a file that contains the
          problems, too. Then upload the products.
        </span>
        <UnlessReadOnly>
          <button
            type="button"
            class="main"
            disabled={busy}
            onClick={() => run(correct)}
          >
            Correct them here
          </button>
        </UnlessReadOnly>
        <button type="button" disabled={busy} onClick={() => run(download)}>
          Download the refused products
        </button>
      </p>
      {error && <ErrorNote error={error} />}
    </div>
  );
}
