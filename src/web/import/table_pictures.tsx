/** The panel of chosen pictures, with or without an open file. */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Client } from "../../client/mod.ts";
import { runInSlices } from "../lib/slices.ts";
import { useStore } from "../lib/store.ts";
import { discardPictures, openPictures } from "../pictures/current.ts";
import { PicturesPanel } from "../pictures/panel.tsx";
import type { PictureSet } from "../pictures/picture_set.ts";
import type { PictureDestination } from "../pictures/placing.ts";
import { rowName } from "./check/objections.ts";
import type { CellChange, MappedTable } from "./columns/sheet.ts";
import { imagesOfRow, pictureChanges, rowsBySku } from "./picture_rows.ts";
import { addColumn, editCells } from "./send/upload.ts";
import { type TableUpload, type Upload, upload } from "./send/upload_state.ts";

/** The panel without a table: the pictures are added to stored products. */
export function OpenPictures({ client, set }: {
  client: Client;
  set: PictureSet;
}) {
  return <PicturesPanel client={client} set={set} onClose={discardPictures} />;
}

/** The panel with an open file. */
export function FilePictures({ client, current }: {
  client: Client;
  current: Upload;
}) {
  const set = useStore(openPictures);
  if (set === null) return null;
  return current.kind === "table" && current.step.name !== "sent"
    ? <UploadPictures client={client} current={current} />
    : <OpenPictures client={client} set={set} />;
}

function UploadPictures({ client, current }: {
  client: Client;
  current: TableUpload;
}) {
  const { sheet, rows } = current;
  return (
    <TablePictures
      client={client}
      sheet={sheet}
      rows={rows}
      onPlace={(changesIn) => {
        if (!sheet.mapping.targets.includes("images")) addColumn("images");
        const latest = upload.value;
        if (latest?.kind === "table") editCells(changesIn(latest.sheet));
      }}
    />
  );
}

/** The panel with a table. If a row has the product, the row gets the pictures. */
export function TablePictures({ client, sheet, rows, onPlace }: {
  client: Client;
  sheet: MappedTable;
  /** The indices of the rows that can receive pictures; null for all rows. */
  rows: readonly number[] | null;
  /** Receives a function that returns the changes of cells. */
  onPlace: (changesIn: (sheet: MappedTable) => CellChange[]) => void;
}) {
  const set = useStore(openPictures);
  const rowOf = useRowsBySku(set === null ? null : sheet, rows);
  const skus = useMemo(() => [...rowOf?.keys() ?? []], [rowOf]);
  const destination = useMemo(
    (): PictureDestination | null =>
      rowOf === null ? null : {
        skus,
        nameOf: (sku) => rowOf.has(sku) ? rowName(sheet, rowOf.get(sku)!) : "",
        countImages: (sku) =>
          rowOf.has(sku) ? imagesOfRow(sheet, rowOf.get(sku)!).length : 0,
        place: (pictures, mode) =>
          pictures.length > 0 &&
          onPlace((latest) => pictureChanges(latest, rowOf, pictures, mode)),
      },
    [skus, sheet, onPlace],
  );
  if (set === null || destination === null) return null;
  return (
    <PicturesPanel
      client={client}
      set={set}
      destination={destination}
      onClose={discardPictures}
    />
  );
}

/** The rows of a table by SKU; null while they are being read. */
function useRowsBySku(
  sheet: MappedTable | null,
  rows: readonly number[] | null,
): ReadonlyMap<string, number> | null {
  const [bySku, setBySku] = useState<ReadonlyMap<string, number> | null>(null);
  useEffect(() => {
    if (sheet === null) return setBySku(null);
    const outdated = new AbortController();
    const all = rows ?? [...sheet.table.rows.keys()];
    runInSlices(rowsBySku(sheet, all), outdated.signal)
      .then((found) => found !== null && setBySku(found));
    return () => outdated.abort();
  }, [sheet, rows]);
  return bySku;
}
