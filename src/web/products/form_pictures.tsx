/** Pictures that are dropped on the form of a product. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Client } from "../../client/mod.ts";
import { loadPictures } from "../import/load_pictures.ts";
import { openDropped } from "../import/open.ts";
import type { DroppedItems } from "../lib/browser.ts";
import { PictureChoosers } from "../pictures/choosers.tsx";
import { dropHandler } from "../pictures/current.ts";
import type { PictureSet } from "../pictures/picture_set.ts";
import { imagesAfter } from "../pictures/set.ts";
import { goTo } from "../state/route.ts";
import { lazy } from "../ui/lazy.tsx";
import type { ListItem } from "./draft.ts";

const PicturesPanel = lazy(async () => (await loadPictures()).PicturesPanel);

/** Replaces the SKU in the set of pictures, because a new product has no SKU. */
const PLACEHOLDER_SKU = "product";
const PLACEHOLDER_SKUS = [PLACEHOLDER_SKU];

export function FormPictures({ client, images, onImages }: {
  client: Client;
  images: readonly ListItem[];
  onImages: (images: readonly ListItem[]) => void;
}) {
  const [set, setSet] = useState<PictureSet | null>(null);
  const latest = useRef(set);
  latest.current = set;
  const addDropped = async (dropped: DroppedItems) => {
    const { PictureSet, sortDropped, onlyPictures } = await loadPictures();
    const sorted = await sortDropped(dropped);
    if (sorted.products.length === sorted.all.length) {
      goTo("upload");
      return openDropped(client, dropped);
    }
    const current = latest.current;
    const openSet = current === null || current.state.value.placed !== null
      ? new PictureSet()
      : current;
    openSet.add(onlyPictures(sorted));
    setSet(openSet);
  };
  useEffect(() => {
    dropHandler.set(addDropped);
    return () => {
      dropHandler.set(null);
      latest.current?.stop();
    };
  }, [client]);
  const imagesWithUrl = images.filter(({ text }) => text.trim() !== "");
  return (
    <>
      {set === null && (
        <p class="row">
          <PictureChoosers
            small
            onFiles={(files) =>
              addDropped({ entries: [], files, handle: null })}
          />
          <span class="quiet">or drop them on this page</span>
        </p>
      )}
      {set !== null && (
        <PicturesPanel
          client={client}
          set={set}
          only={PLACEHOLDER_SKU}
          destination={{
            skus: PLACEHOLDER_SKUS,
            nameOf: () => "",
            countImages: () => imagesWithUrl.length,
            place: ([pictures], mode) => {
              if (pictures === undefined) return;
              const notes = new Map(
                imagesWithUrl.map(({ text, note }) => [text, note]),
              );
              onImages(
                imagesAfter([...notes.keys()], pictures.urls, mode)
                  .map((text) => ({ text, note: notes.get(text) ?? "" })),
              );
            },
          }}
          onClose={() => {
            set.stop();
            setSet(null);
          }}
        />
      )}
    </>
  );
}
