/** Offers what an upload or an import has refused for correction. */
import { Changing } from "../changing.tsx";
import type { Watched } from "../background.ts";
import type { Client } from "../../client/mod.ts";
import { saveFile } from "../browser.ts";
import { isImport, titleOf } from "../names.ts";
import { ErrorNote, plural, useAction } from "../parts.tsx";
import { goTo } from "../route.ts";
import { loadFiles } from "../take.ts";

export function RefusedBar({ client, watched }: {
  client: Client;
  watched: Watched;
}) {
  const { busy, error, run } = useAction();
  const { refused = 0 } = watched.products;
  const name = `refused-${titleOf(watched)}`;
  const load = () =>
    isImport(watched)
      ? client.getRefusedOfImport({ import_id: watched.import_id })
      : client.getRefusedProducts({ transaction_id: watched.transaction_id });
  const download = async () =>
    saveFile(
      new Blob([await load()]),
      `${name.replace(/\.\w+$/, "")}.xml`,
    );
  const correct = async () => {
    const { correctRefused } = await loadFiles();
    await correctRefused(client, watched, name, load);
    goTo("upload");
  };
  return (
    <div class="note warn">
      <p class="row">
        <span class="grow">
          {plural(refused, "product")}{" "}
          refused. Correct them here, or in a file that names their problems in
          comments; then upload them.
        </span>
        <Changing>
          <button
            type="button"
            class="main"
            disabled={busy}
            onClick={() => run(correct)}
          >
            Correct them here
          </button>
        </Changing>
        <button type="button" disabled={busy} onClick={() => run(download)}>
          Download the refused products
        </button>
      </p>
      {error && <ErrorNote error={error} />}
    </div>
  );
}
