/**
 * A grid whose cells are edited as in a spreadsheet program. Only visible rows
 * are drawn.
 */
import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { clipboardTextOf, parseClipboardCells } from "../lib/clipboard.ts";

/** Sizes in pixels, as in the style sheet. */
const ROW_HEIGHT = 46;
const HEAD_HEIGHT = 32;
const NAME_WIDTH = 64;
const COLUMN_WIDTH = 176;
/** The number of rows drawn above, and below, the visible ones. */
const EXTRA_ROWS = 5;
/** The number of scrolled rows after which other rows are drawn. */
const SCROLL_STEP = 5;

/** A column. Its `at` stays the same when other columns are added. */
export interface GridColumn<At extends number | string> {
  at: At;
  label: string;
}

export interface CellAddress<At extends number | string> {
  row: number;
  column: At;
}

/** A cell and its new text. */
export interface CellText<At extends number | string> extends CellAddress<At> {
  text: string;
}

/** The problem of a cell, if any, and whether the user has changed the cell. */
interface CellMessage {
  text: string | null;
  isChanged: boolean;
}

export function Grid<At extends number | string>(
  {
    label,
    rows,
    columns,
    nameOf,
    textAt,
    messageAt,
    place,
    onPlace,
    onWrite,
    onUndo,
  }: {
    label: string;
    rows: readonly number[];
    columns: readonly GridColumn<At>[];
    nameOf: (row: number) => string;
    textAt: (row: number, at: At) => string;
    messageAt: (row: number, at: At) => CellMessage;
    place: CellAddress<At> | null;
    onPlace: (place: CellAddress<At>) => void;
    /** Writes these cells; one undo restores all of them. */
    onWrite: (cells: readonly CellText<At>[]) => void;
    onUndo: () => void;
  },
) {
  const box = useRef<HTMLDivElement>(null);
  /** The first visible row, rounded down to a multiple of `SCROLL_STEP`. */
  const [firstVisible, setFirstVisible] = useState(0);
  const [height, setHeight] = useState(400);
  /** The text of the cell that is being edited; null if no cell is edited. */
  const [typed, setTyped] = useState<string | null>(null);
  /** The corner of the selection that is opposite the active cell. */
  const [anchor, setAnchor] = useState<Corner | null>(null);
  const row = place === null ? -1 : rows.indexOf(place.row);
  const column = columns.findIndex(({ at }) => at === place?.column);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() =>
      setHeight(box.current?.clientHeight ?? 400)
    );
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (row >= 0) scrollToCell(box.current!, row, column);
  }, [row, column]);
  const moveTo = (toRow: number, toColumn: number, isSelecting = false) => {
    const next = Math.min(Math.max(toRow, 0), rows.length - 1);
    const at = columns[Math.min(Math.max(toColumn, 0), columns.length - 1)].at;
    setAnchor(isSelecting ? anchor ?? { row, column } : null);
    onPlace({ row: rows[next], column: at });
  };
  const { top, bottom, left, right } = selectionOf({ row, column }, anchor);
  const selectedRows = rows.slice(top, bottom + 1);
  const selectedColumns = columns.slice(left, right + 1);
  const at = columns[column]?.at;
  /** Writes the text that `textOf` returns for each selected cell, unless null. */
  const writeSelected = (textOf: (row: number, column: At) => string | null) =>
    onWrite(
      selectedRows.flatMap((one) =>
        selectedColumns.flatMap(({ at }): CellText<At>[] => {
          const text = textOf(one, at);
          return text === null ? [] : [{ row: one, column: at, text }];
        })
      ),
    );
  const commit = () => {
    if (typed === null) return;
    setTyped(null);
    if (typed !== textAt(rows[row], at)) {
      onWrite([{ row: rows[row], column: at, text: typed }]);
    }
  };
  /**
   * Ctrl+D: copies the first row of the selection into the other selected rows.
   * If only one row is selected, copies the row above into the selected row.
   */
  const fillDown = () => {
    const source = top === bottom ? rows[row - 1] : rows[top];
    if (source === undefined) return;
    writeSelected((one, at) => one === source ? null : textAt(source, at));
  };
  const page = Math.max(1, Math.floor(height / ROW_HEIGHT) - 2);
  const handleKey = (event: KeyboardEvent) => {
    if (typed !== null || row < 0) return;
    const { key, shiftKey } = event;
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.altKey || key === "Tab" || key === "Escape") return;
    const moves: Record<string, [number, number]> = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      PageUp: [row - page, column],
      PageDown: [row + page, column],
      Home: [isCommand ? 0 : row, 0],
      End: [isCommand ? rows.length : row, columns.length],
    };
    const move = moves[key];
    if (move !== undefined) moveTo(...move, shiftKey);
    else if (isCommand && key === "z") onUndo();
    else if (isCommand && key === "d") fillDown();
    else if (isCommand) return;
    else if (key === "Enter" || key === "F2") setTyped(textAt(rows[row], at));
    else if (key === "Delete" || key === "Backspace") {
      writeSelected(() => "");
    } else if (key.length === 1) setTyped(key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const copy = (event: ClipboardEvent) => {
    if (typed !== null || row < 0) return;
    const cells = selectedRows.map((one) =>
      selectedColumns.map(({ at }) => textAt(one, at))
    );
    event.clipboardData?.setData("text/plain", clipboardTextOf(cells));
    event.preventDefault();
  };
  /**
   * Pastes one text into all selected cells; pastes several texts into the cells
   * from the selection's first cell on.
   */
  const paste = (event: ClipboardEvent) => {
    event.stopPropagation();
    if (typed !== null || row < 0) return;
    event.preventDefault();
    const cells = parseClipboardCells(
      event.clipboardData?.getData("text/plain") ?? "",
    );
    if (cells.length === 1 && cells[0].length === 1) {
      writeSelected(() => cells[0][0]);
      return;
    }
    onWrite(
      rows.slice(top, top + cells.length).flatMap((one, i) =>
        columns.slice(left, left + cells[i].length)
          .map(({ at }, j) => ({ row: one, column: at, text: cells[i][j] }))
      ),
    );
  };
  const drawnRows = EXTRA_ROWS + SCROLL_STEP + Math.ceil(height / ROW_HEIGHT) +
    EXTRA_ROWS;
  const first = Math.max(0, firstVisible - EXTRA_ROWS);
  const last = Math.min(rows.length, firstVisible - EXTRA_ROWS + drawnRows);
  /** All values that determine how the rows are drawn. */
  const drawnFrom = [columns, textAt, messageAt, row, column, anchor, typed];
  const tracks = {
    gridTemplateColumns:
      `${NAME_WIDTH}px repeat(${columns.length}, ${COLUMN_WIDTH}px)`,
  };
  return (
    <div
      class="sheet"
      ref={box}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length + 1}
      aria-multiselectable="true"
      aria-activedescendant={row >= first && row < last
        ? `cell-${row}-${column}`
        : undefined}
      onScroll={({ currentTarget: { scrollTop } }) =>
        setFirstVisible(
          Math.floor(scrollTop / ROW_HEIGHT / SCROLL_STEP) * SCROLL_STEP,
        )}
      onKeyDown={handleKey}
      onCopy={copy}
      onPaste={paste}
    >
      <div role="rowgroup" class="sheet-head">
        <div role="row" aria-rowindex={1} class="sheet-row" style={tracks}>
          <span role="columnheader" class="sheet-name">Row</span>
          {columns.map(({ at, label }) => (
            <span key={at} role="columnheader" class="cut">{label}</span>
          ))}
        </div>
      </div>
      <div
        role="rowgroup"
        style={{
          height: `${rows.length * ROW_HEIGHT}px`,
          paddingTop: `${first * ROW_HEIGHT}px`,
        }}
      >
        {rows.slice(first, last).map((one, i) => (
          <Memo
            // A row that becomes visible reuses the elements of a row that has
            // become invisible.
            key={(first + i) % drawnRows}
            inputs={[...drawnFrom, first + i]}
            draw={() => (
              <div
                role="row"
                aria-rowindex={first + i + 2}
                class="sheet-row"
                style={tracks}
              >
                <span role="rowheader" class="sheet-name">{nameOf(one)}</span>
                {columns.map((other, j) => (
                  <Cell
                    key={other.at}
                    id={`cell-${first + i}-${j}`}
                    text={textAt(one, other.at)}
                    message={messageAt(one, other.at)}
                    isActive={first + i === row && j === column}
                    isSelected={j >= left && j <= right && first + i >= top &&
                      first + i <= bottom}
                    typed={first + i === row && j === column ? typed : null}
                    onType={setTyped}
                    onChoose={(isSelecting) => {
                      // An unmounted input fires no blur, so commit first.
                      box.current?.focus({ preventScroll: true });
                      moveTo(first + i, j, isSelecting);
                    }}
                    onEdit={() => setTyped(textAt(rows[row], at))}
                    onEnd={(reason) => {
                      if (reason === "cancel") setTyped(null);
                      else commit();
                      if (reason === "down") moveTo(row + 1, column);
                      if (reason === "right") moveTo(row, column + 1);
                      if (reason !== "blur") box.current?.focus();
                    }}
                  />
                ))}
              </div>
            )}
          />
        ))}
      </div>
    </div>
  );
}

/** The position of a cell: indices in `rows` and `columns`. */
interface Corner {
  row: number;
  column: number;
}

function selectionOf(one: Corner, other: Corner | null) {
  const { row, column } = other ?? one;
  return {
    top: Math.min(one.row, row),
    bottom: Math.max(one.row, row),
    left: Math.min(one.column, column),
    right: Math.max(one.column, column),
  };
}

/** Calls `draw` again only if a value of `inputs` has changed. */
function Memo(
  { inputs, draw }: { inputs: readonly unknown[]; draw: () => JSX.Element },
) {
  return useMemo(draw, inputs);
}

/** Scrolls until a cell is visible. */
function scrollToCell(box: HTMLDivElement, row: number, column: number): void {
  const { clientHeight, clientWidth } = box;
  const top = row * ROW_HEIGHT;
  const bottom = top + HEAD_HEIGHT + ROW_HEIGHT;
  if (box.scrollTop > top) box.scrollTop = top;
  else if (box.scrollTop + clientHeight < bottom) {
    box.scrollTop = bottom - clientHeight;
  }
  const left = Math.max(0, column) * COLUMN_WIDTH;
  const right = left + NAME_WIDTH + COLUMN_WIDTH;
  if (box.scrollLeft > left) box.scrollLeft = left;
  else if (box.scrollLeft + clientWidth < right) {
    box.scrollLeft = right - clientWidth;
  }
}

type EditEnd = "down" | "right" | "cancel" | "blur";

function Cell(
  {
    id,
    text,
    message,
    isActive,
    isSelected,
    typed,
    onType,
    onChoose,
    onEdit,
    onEnd,
  }: {
    id: string;
    text: string;
    message: CellMessage;
    isActive: boolean;
    isSelected: boolean;
    /** The text that is being typed; null if the cell is not being edited. */
    typed: string | null;
    onType: (text: string) => void;
    onChoose: (isSelecting: boolean) => void;
    /** Edits the chosen cell. */
    onEdit: () => void;
    onEnd: (reason: EditEnd) => void;
  },
) {
  const classes = ["sheet-cell"];
  if (message.text !== null) classes.push("wrong");
  else if (message.isChanged) classes.push("changed");
  if (isActive) classes.push("active");
  else if (isSelected) classes.push("chosen");
  return (
    <div
      id={id}
      role="gridcell"
      class={classes.join(" ")}
      aria-selected={isSelected}
      title={message.text ?? undefined}
      onMouseDown={(event) => {
        // The second click of a double click is ignored, because the first click
        // may have scrolled another cell under the pointer.
        if (typed === null && event.detail < 2) onChoose(event.shiftKey);
      }}
      onDblClick={typed === null ? onEdit : undefined}
    >
      {typed === null
        ? <span class="cut">{text}</span>
        : <CellInput text={typed} onType={onType} onEnd={onEnd} />}
      {typed === null && message.text !== null && (
        <small class="cut">{message.text}</small>
      )}
      {typed === null && message.text === null && message.isChanged && (
        <small>changed</small>
      )}
    </div>
  );
}

function CellInput({ text, onType, onEnd }: {
  text: string;
  onType: (text: string) => void;
  onEnd: (reason: EditEnd) => void;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const hasEnded = useRef(false);
  useLayoutEffect(() => {
    area.current!.focus();
    area.current!.setSelectionRange(text.length, text.length);
  }, []);
  const end = (reason: EditEnd) => {
    if (hasEnded.current) return;
    hasEnded.current = true;
    onEnd(reason);
  };
  return (
    <textarea
      ref={area}
      aria-label="Text of the cell"
      spellcheck={false}
      value={text}
      onInput={(event) => onType(event.currentTarget.value)}
      onBlur={() => end("blur")}
      onKeyDown={(event) => {
        event.stopPropagation();
        // Alt+Enter and Shift+Enter write a line break into the cell.
        if (event.key === "Enter" && (event.altKey || event.shiftKey)) return;
        const reason: EditEnd | null = event.key === "Enter"
          ? "down"
          : event.key === "Tab"
          ? "right"
          : event.key === "Escape"
          ? "cancel"
          : null;
        if (reason === null) return;
        event.preventDefault();
        end(reason);
      }}
    />
  );
}
