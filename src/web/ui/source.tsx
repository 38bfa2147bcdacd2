/**
 * Shows the source of a file that is too large for the editor. Only visible
 * lines are drawn.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** The height of a line in pixels, as in the style sheet. */
export const LINE_HEIGHT = 20;
/** The number of lines drawn above, and below, the visible ones. */
export const EXTRA_LINES = 20;
/** The maximum number of characters drawn of a line. */
const LINE_LENGTH_LIMIT = 2_000;

export interface ShownLine {
  /** The line's number, from 1. */
  line: number;
  /** Increases with each request, so that the same line can be shown again. */
  request: number;
}

export function SourceView({ lines, marked, place }: {
  lines: readonly string[];
  /** Lines with problems. */
  marked: ReadonlySet<number>;
  /** The line to scroll to. */
  place: ShownLine | null;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() =>
      setHeight(box.current?.clientHeight ?? 600)
    );
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (place === null || box.current === null) return;
    box.current.scrollTop = (place.line - 1) * LINE_HEIGHT -
      box.current.clientHeight / 3;
    box.current.scrollLeft = 0;
  }, [place]);
  const first = Math.max(0, Math.floor(top / LINE_HEIGHT) - EXTRA_LINES);
  const last = Math.min(
    lines.length,
    Math.ceil((top + height) / LINE_HEIGHT) + EXTRA_LINES,
  );
  return (
    <div
      class="source"
      ref={box}
      tabIndex={0}
      role="region"
      aria-label="Source of the file"
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div
        class="lines"
        style={{ height: `${lines.length * LINE_HEIGHT}px` }}
      >
        <div style={{ transform: `translateY(${first * LINE_HEIGHT}px)` }}>
          {lines.slice(first, last).map((text, i) => (
            <SourceLine
              key={first + i}
              number={first + i + 1}
              text={text}
              marked={marked}
              current={place?.line}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

export function SourceLine({ number, text, marked, current }: {
  number: number;
  text: string;
  marked: ReadonlySet<number>;
  current: number | undefined;
}) {
  const classes = ["line"];
  if (marked.has(number)) classes.push("marked");
  if (number === current) classes.push("current");
  return (
    <div class={classes.join(" ")} data-line={number}>
      <span class="number">{number}</span>
      <code>
        {text.length > LINE_LENGTH_LIMIT
          ? `${text.slice(0, LINE_LENGTH_LIMIT)} …`
          : text}
      </code>
    </div>
  );
}
