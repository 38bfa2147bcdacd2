/** Small drawings of pictures that are not sent yet. */
import { useEffect, useRef } from "preact/hooks";
import { drawnWithin } from "./resizing.ts";

/** The longer side of a thumbnail in pixels, for screens of twice the density. */
const SIDE = 160;

/** Draws one picture after the other: each takes memory for all its pixels. */
let last: Promise<unknown> = Promise.resolve();

/** Drawn thumbnails by file. */
const drawn = new WeakMap<File, HTMLCanvasElement>();

/** A picture before it is sent; empty if the browser cannot draw it. */
export function PictureThumb({ file, label }: { file: File; label: string }) {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    let isGone = false;
    const show = (canvas: HTMLCanvasElement) =>
      place.current?.replaceChildren(canvas);
    const known = drawn.get(file);
    if (known !== undefined) show(known);
    else {
      last = last.then(async () => {
        if (isGone) return;
        const canvas = await drawnWithin(file, SIDE).catch(() => null);
        if (canvas === null) return;
        drawn.set(file, canvas);
        if (!isGone) show(canvas);
      });
    }
    return () => isGone = true;
  }, [file]);
  return <span ref={place} class="thumb" role="img" aria-label={label} />;
}
