/** Thumbnails of pictures before they are sent. */
import { useEffect, useRef } from "preact/hooks";
import { drawWithin } from "./resizing.ts";

/** The longer side of a thumbnail in pixels, for screens of double density. */
const SIDE = 160;

/** Draws one picture at a time, because a picture needs memory for all pixels. */
let lastDrawing: Promise<unknown> = Promise.resolve();

/** Drawn thumbnails by file. */
const drawnPictures = new WeakMap<File, HTMLCanvasElement>();

/** The thumbnail of a picture; empty if the browser cannot draw the picture. */
export function PictureThumb({ file, label }: { file: File; label: string }) {
  const box = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    let isUnmounted = false;
    const show = (canvas: HTMLCanvasElement) =>
      box.current?.replaceChildren(canvas);
    const cached = drawnPictures.get(file);
    if (cached !== undefined) show(cached);
    else {
      lastDrawing = lastDrawing.then(async () => {
        if (isUnmounted) return;
        const canvas = await drawWithin(file, SIDE).catch(() => null);
        if (canvas === null) return;
        drawnPictures.set(file, canvas);
        if (!isUnmounted) show(canvas);
      });
    }
    return () => isUnmounted = true;
  }, [file]);
  return <span ref={box} class="thumb" role="img" aria-label={label} />;
}
