/**
 * An editor for the source of a file. A text area covers a layer with the line
 * numbers and the marked lines; the layer contains only visible lines.
 */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TextRange } from "../lib/markup.ts";
import { EXTRA_LINES, LINE_HEIGHT, SourceLine } from "./source.tsx";

/** The width of the column of line numbers, in characters. */
const NUMBER_COLUMN_WIDTH = 7;

export interface EditorSelection extends TextRange {
  /** Increases with each request, so that the same text can be shown again. */
  request: number;
}

export function Editor({ text, marked, selection, onEdit }: {
  text: string;
  /** Lines with problems. */
  marked: ReadonlySet<number>;
  /** The text to select and scroll to. */
  selection: EditorSelection | null;
  onEdit: (text: string) => void;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const numbers = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const [current, setCurrent] = useState(0);
  const lines = useMemo(() => lineCount(text), [text]);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() =>
      setHeight(area.current?.clientHeight ?? 600)
    );
    observer.observe(area.current!);
    return () => observer.disconnect();
  }, []);
  // A layout effect runs before the user types. A typed character would replace
  // the selected text.
  useLayoutEffect(() => {
    if (selection === null || area.current === null) return;
    const before = text.slice(0, selection.start);
    const line = lineCount(before);
    const column = before.length - before.lastIndexOf("\n") - 1;
    setCurrent(line);
    area.current.focus({ preventScroll: true });
    area.current.setSelectionRange(selection.start, selection.end);
    const width = (numbers.current?.clientWidth ?? 0) / NUMBER_COLUMN_WIDTH;
    area.current.scrollTop = (line - 1) * LINE_HEIGHT -
      area.current.clientHeight / 3;
    area.current.scrollLeft = column * width - area.current.clientWidth / 2;
  }, [selection]);
  const first = Math.max(0, Math.floor(top / LINE_HEIGHT) - EXTRA_LINES);
  const last = Math.min(
    lines,
    Math.ceil((top + height) / LINE_HEIGHT) + EXTRA_LINES,
  );
  return (
    <div class="source editor">
      <div class="measure mono" ref={numbers} />
      <div
        class="behind"
        aria-hidden="true"
        style={{ transform: `translateY(${first * LINE_HEIGHT - top}px)` }}
      >
        {Array.from({ length: Math.max(0, last - first) }, (_, i) => (
          <SourceLine
            key={first + i}
            number={first + i + 1}
            text=""
            marked={marked}
            current={current}
          />
        ))}
      </div>
      <textarea
        ref={area}
        aria-label="Source of the file"
        wrap="off"
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        value={text}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onInput={(event) => onEdit(event.currentTarget.value)}
      />
    </div>
  );
}

/** The number of lines of a text in a text area. */
function lineCount(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    count++;
  }
  return count;
}
