/** Buttons that choose pictures: several files, or a folder. */
import { useLayoutEffect, useRef } from "preact/hooks";

export function PictureChoosers({ onFiles, small }: {
  onFiles: (files: readonly File[]) => void;
  small?: true;
}) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  // Preact's types have no attribute with this name.
  useLayoutEffect(() => folder.current?.setAttribute("webkitdirectory", ""));
  const take = (input: HTMLInputElement) => {
    const chosen = [...input.files ?? []];
    // Without this, choosing the same files again would fire no event.
    input.value = "";
    if (chosen.length > 0) onFiles(chosen);
  };
  const classes = small ? "small" : "";
  return (
    <>
      <button
        type="button"
        class={classes}
        onClick={() => files.current?.click()}
      >
        Choose pictures…
      </button>
      <button
        type="button"
        class={classes}
        onClick={() => folder.current?.click()}
      >
        Choose a folder…
      </button>
      <input
        ref={files}
        type="file"
        multiple
        class="unseen"
        tabIndex={-1}
        aria-label="Picture files"
        onChange={(event) => take(event.currentTarget)}
      />
      <input
        ref={folder}
        type="file"
        multiple
        class="unseen"
        tabIndex={-1}
        aria-label="Folder of pictures"
        onChange={(event) => take(event.currentTarget)}
      />
    </>
  );
}
