/** The chosen pictures: their products, their order, their sending. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Client } from "../../client/mod.ts";
import { formatBytes, formatCount, plural } from "../lib/format.ts";
import { runInSlices } from "../lib/slices.ts";
import { useStore } from "../lib/store.ts";
import { linkTo } from "../state/route.ts";
import { Announcer, ErrorNote, Form, useAction } from "../ui/components.tsx";
import { PictureChoosers } from "./choosers.tsx";
import { sortDropped, type SortedFiles } from "./dropped.ts";
import { NOT_A_PICTURE } from "./kinds.ts";
import { type SkuIndex, skuIndexOf } from "./matching.ts";
import type { PictureSet, SetState } from "./picture_set.ts";
import {
  type PicturePlaces,
  placeInProducts,
  type PlacingMode,
  storedBySku,
} from "./placing.ts";
import { countsOf, type Queue, type SendingState } from "./queue.ts";
import { LONGER_SIDE } from "./resizing.ts";
import { imageLimit } from "./sending.ts";
import {
  assign,
  assigned,
  type Assignment,
  largePictures,
  MOST_PICTURES,
  movedForward,
  type Picture,
  type PictureGroup,
  picturesIn,
  type UnmatchedPicture,
  withinRoom,
} from "./set.ts";
import { PictureThumb } from "./thumb.tsx";

const NO_PLACES: PicturePlaces = {
  skus: [],
  nameOf: () => "",
  countImages: () => 0,
  place: () => {},
};

/** The most pictures that are drawn at first, and more at each click. */
const SHOWN = 100;
/** Lists up to this length are open. */
const FEW = 5;

export function PicturesPanel(
  { client, set, places = NO_PLACES, only = null, onClose }: {
    client: Client;
    set: PictureSet;
    places?: PicturePlaces;
    /** All pictures are of this product, whatever their names are. */
    only?: string | null;
    onClose: () => void;
  },
) {
  const state = useStore(set.state);
  const { pictures, queue, search, placed } = state;
  useSearch(client, set, places, only);
  const assignment = useAssignment(state, places, only);
  const isRunning = queue?.isRunning === true;
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.scrollIntoView({ block: "nearest" }), []);
  const isEmpty = pictures.length === 0;
  const isSearched = search.name === "done" || search.name === "failed";
  const add = async (files: readonly File[]) =>
    set.add(onlyPictures(await sortDropped({ entries: [], files })));
  return (
    <section ref={section} class="card" aria-label="Pictures">
      <Announcer text={announcement(state)} />
      <div class="bar">
        <h2 class="grow">{isEmpty ? "Other files" : "Pictures"}</h2>
        {!isRunning && placed === null && (
          <PictureChoosers onFiles={add} small />
        )}
        {!isRunning && (
          <button type="button" class="small" onClick={onClose}>
            {placed === null && !isEmpty ? "Leave the pictures out" : "Close"}
          </button>
        )}
      </div>
      <Unsent state={state} />
      {!isEmpty && placed === null && (
        <>
          {only === null && <Search set={set} state={state} />}
          {assignment !== null && isSearched && (
            <Assigned
              client={client}
              set={set}
              state={state}
              places={places}
              only={only}
              assignment={assignment}
            />
          )}
        </>
      )}
      {placed !== null && (
        <>
          <Refused refused={refusedIn(state, pictures)} onSmaller={null} />
          <PlacedNote placed={placed} only={only} />
        </>
      )}
    </section>
  );
}

/** Sorted files for a view that opens no tables: these are not sent, either. */
export function onlyPictures(
  { products, unsent, ...sorted }: SortedFiles,
): Omit<SortedFiles, "products"> {
  const others = products.map(({ path }) => ({ path, why: NOT_A_PICTURE }));
  return { ...sorted, unsent: [...unsent, ...others] };
}

/** Searches the stored products once, when there are new pictures. */
function useSearch(
  client: Client,
  set: PictureSet,
  places: PicturePlaces,
  only: string | null,
): void {
  const { search, pictures } = useStore(set.state);
  const isWaiting = search.name === "waiting" && pictures.length > 0;
  useEffect(() => {
    if (!isWaiting) return;
    if (only !== null) return set.endSearch();
    const outdated = new AbortController();
    runInSlices(skuIndexOf(places.skus), outdated.signal).then((index) => {
      if (index === null) return;
      const skus = pictures.flatMap(({ path }) => index.match(path).skus);
      set.search(client, [...new Set(skus)]);
    });
    return () => outdated.abort();
  }, [isWaiting]);
}

/** The products of the pictures; null while they are being assigned. */
function useAssignment(
  { pictures, stored, choices }: SetState,
  { skus }: PicturePlaces,
  only: string | null,
): Assignment | null {
  const [index, setIndex] = useState<SkuIndex | null>(null);
  const [assignment, setAssignment] = useState<Assignment | null>(null);
  useEffect(() => {
    const outdated = new AbortController();
    runInSlices(skuIndexOf([...skus, ...stored.keys()]), outdated.signal)
      .then((made) => made !== null && setIndex(made));
    return () => outdated.abort();
  }, [skus, stored]);
  useEffect(() => {
    if (index === null) return;
    const outdated = new AbortController();
    runInSlices(assign(pictures, index, choices, only), outdated.signal)
      .then((found) => found !== null && setAssignment(found));
    return () => outdated.abort();
  }, [pictures, index, choices, only]);
  return assignment;
}

function announcement({ queue, placed, search }: SetState): string {
  if (placed !== null) return "The pictures are in the products.";
  if (queue === null) {
    return search.name === "running" ? "Products are being searched." : "";
  }
  const { sent, refused, left } = countsOf(queue);
  if (left === 0) return `All pictures are sent, except for ${refused}.`;
  const quarter = Math.floor(4 * sent / queue.pictures.size) * 25;
  return `${quarter} percent of the pictures are sent.`;
}

/** Files that are not sent, with the reasons. */
function Unsent(
  { state: { unsent, systemFiles, placed } }: { state: SetState },
) {
  return (
    <>
      {unsent.length > 0 && (
        <details
          class="note warn"
          open={unsent.length <= FEW && placed === null}
        >
          <summary>
            {plural(unsent.length, "file")}{" "}
            {placed === null ? "will not be sent" : "not sent"}
          </summary>
          <ul>
            {unsent.slice(0, SHOWN).map(({ path, why }) => (
              <li key={path}>
                <span class="mono break">{path}</span>: {why}
              </li>
            ))}
            {unsent.length > SHOWN && (
              <li>and {formatCount(unsent.length - SHOWN)} more</li>
            )}
          </ul>
        </details>
      )}
      {systemFiles.length > 0 && (
        <p class="quiet">
          Left out, as files of the operating system:{" "}
          {[...new Set(systemFiles)].slice(0, FEW).join(", ")}.
        </p>
      )}
    </>
  );
}

function Search({ set, state: { search } }: {
  set: PictureSet;
  state: SetState;
}) {
  if (search.name === "running" || search.name === "waiting") {
    const { done, total } = search.name === "running"
      ? search
      : { done: 0, total: 0 };
    return (
      <div class="note row">
        <span class="grow">
          Your products are being searched for the names of the pictures…
        </span>
        <progress
          aria-label="Search"
          max={total || 1}
          value={total === 0 ? undefined : done}
        />
        <button type="button" class="small" onClick={() => set.endSearch()}>
          Stop the search
        </button>
      </div>
    );
  }
  return search.name !== "failed" ? null : (
    <ErrorNote
      error={search.error}
      message="Your stored products could not be searched."
      onRetry={() => set.change({ search: { name: "waiting" } })}
    />
  );
}

interface AssignedProps {
  client: Client;
  set: PictureSet;
  state: SetState;
  places: PicturePlaces;
  only: string | null;
  assignment: Assignment;
}

/** The images that a row or product has already; replaced ones do not count. */
function existingImages(
  { places, state }: Pick<AssignedProps, "places" | "state">,
  sku: string,
): number {
  return places.countImages(sku) || (state.stored.get(sku)?.images.length ?? 0);
}

function Assigned(all: AssignedProps) {
  const { mode } = all.state;
  const assignment = mode === "keep"
    ? withinRoom(all.assignment, (sku) => existingImages(all, sku))
    : all.assignment;
  const props = { ...all, assignment };
  const { client, set, state, only, places } = props;
  const { groups, unmatched, leftOut } = assignment;
  const { queue } = state;
  const [shown, setShown] = useState(SHOWN);
  const isRunning = queue?.isRunning === true;
  const sendable = picturesIn(assignment);
  const tooMany = groups.flatMap((group) => group.tooMany);
  const shownGroups = firstGroups(groups, shown);
  const shownUnmatched = unmatched.slice(0, shown);
  return (
    <>
      {only === null && (
        <p>
          {groups.length === 0 ? "No picture fits a product." : (
            <>
              <strong>
                {plural(sendable.length, "picture")} of{" "}
                {plural(groups.length, "product")}
              </strong>
            </>
          )}
        </p>
      )}
      {tooMany.length > 0 && (
        <p class="note warn">
          A product can have {MOST_PICTURES}{" "}
          pictures, so these will not be sent:{" "}
          {tooMany.slice(0, 5).map(({ path }) => path).join(", ")}
          {tooMany.length > 5 &&
            ` and ${formatCount(tooMany.length - 5)} more`}.
        </p>
      )}
      {sendable.length > 0 && <Sending {...props} sendable={sendable} />}
      {unmatched.length > 0 && (
        <details
          open={unmatched.length <= FEW}
          aria-label="Pictures without a product"
        >
          <summary>
            {plural(unmatched.length, "picture")} without a product
          </summary>
          <p class="quiet">
            A picture belongs to the product whose SKU is in the name of its
            file or folder, such as MUG-1.jpg or MUG-1-back.jpg. Enter the SKU
            of a picture, or leave it out.{" "}
            <button
              type="button"
              class="small"
              disabled={isRunning}
              onClick={() => set.change({ search: { name: "waiting" } })}
            >
              Search the products again
            </button>
          </p>
          <ul class="gallery">
            {shownUnmatched.map((one) => (
              <Unmatched
                key={one.picture.key}
                unmatched={one}
                disabled={isRunning}
                hasProduct={(sku) =>
                  places.skus.includes(sku)
                    ? Promise.resolve(true)
                    : set.knows(client, sku)}
                onProduct={(sku) =>
                  set.change({
                    choices: assigned(
                      set.state.value.choices,
                      one.picture,
                      sku,
                    ),
                  })}
              />
            ))}
          </ul>
        </details>
      )}
      <ul class="picture-groups">
        {shownGroups.map((group) => (
          <Group
            key={group.sku}
            group={group}
            title={only === null ? titleOf(group.sku, state, places) : null}
            queue={queue}
            frozen={isRunning}
            onForward={(picture) =>
              set.change({
                choices: movedForward(set.state.value.choices, group, picture),
              })}
            onRemove={(picture) =>
              set.change({
                choices: assigned(set.state.value.choices, picture, null),
              })}
          />
        ))}
      </ul>
      {(shownGroups.length < groups.length ||
        shownUnmatched.length < unmatched.length) && (
        <p>
          <button type="button" onClick={() => setShown(shown + SHOWN)}>
            Show more
          </button>
        </p>
      )}
      {leftOut.length > 0 && (
        <p class="row quiet">
          <span>{plural(leftOut.length, "picture")} left out.</span>
          <button
            type="button"
            class="small"
            disabled={isRunning}
            onClick={() => {
              const products = new Map(state.choices.products);
              for (const { key } of leftOut) products.delete(key);
              set.change({ choices: { ...state.choices, products } });
            }}
          >
            Take back
          </button>
        </p>
      )}
    </>
  );
}

/** The first groups that have together at most this number of pictures. */
function firstGroups(
  groups: readonly PictureGroup[],
  most: number,
): readonly PictureGroup[] {
  let pictures = 0;
  const end = groups.findIndex((group) =>
    (pictures += group.pictures.length) > most
  );
  return end < 0 ? groups : groups.slice(0, Math.max(1, end));
}

function titleOf(
  sku: string,
  { stored }: SetState,
  places: PicturePlaces,
): string {
  const name = places.nameOf(sku);
  if (name !== "") return name;
  return stored.get(sku)?.title ?? "";
}

function Unmatched({ unmatched, disabled, hasProduct, onProduct }: {
  unmatched: UnmatchedPicture;
  disabled: boolean;
  hasProduct: (sku: string) => Promise<boolean>;
  onProduct: (sku: string | null) => void;
}) {
  const { picture, skus } = unmatched;
  const [typed, setTyped] = useState("");
  const [isUnknown, setUnknown] = useState(false);
  const { busy, error, run } = useAction();
  const use = () =>
    run(async () => {
      const sku = typed.trim();
      const known = await hasProduct(sku);
      setUnknown(!known);
      if (known) onProduct(sku);
    });
  return (
    <li>
      <PictureThumb file={picture.file} label={picture.path} />
      <div class="grow">
        <span class="mono break">{picture.path}</span>
        {skus.length > 1 && (
          <span class="row">
            Its name fits {plural(skus.length, "product")}:{" "}
            {skus.slice(0, 6).map((sku) => (
              <button
                key={sku}
                type="button"
                class="small"
                disabled={disabled}
                onClick={() => onProduct(sku)}
              >
                {sku}
              </button>
            ))}
          </span>
        )}
        <Form class="row" onSubmit={use}>
          <input
            aria-label={`SKU of ${picture.path}`}
            placeholder="SKU"
            size={16}
            value={typed}
            disabled={disabled}
            aria-invalid={isUnknown}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          <button
            type="submit"
            class="small"
            disabled={disabled || busy || typed.trim() === ""}
          >
            Use
          </button>
          <button
            type="button"
            class="small ghost"
            disabled={disabled}
            onClick={() => onProduct(null)}
          >
            Leave out
          </button>
        </Form>
        {isUnknown && (
          <span class="bad" role="alert">
            No row and no product has this SKU.
          </span>
        )}
        {error && <ErrorNote error={error} />}
      </div>
    </li>
  );
}

function Group({ group, title, queue, frozen, onForward, onRemove }: {
  group: PictureGroup;
  /** null: the product is the one of the form. */
  title: string | null;
  queue: Queue | null;
  frozen: boolean;
  onForward: (picture: Picture) => void;
  onRemove: (picture: Picture) => void;
}) {
  const { sku, pictures } = group;
  return (
    <li>
      {title !== null && (
        <p class="row">
          <span class="mono break">{sku}</span>
          <span class="quiet cut">{title}</span>
        </p>
      )}
      <ol class="strip">
        {pictures.map((picture, i) => (
          <li key={picture.key}>
            <PictureThumb file={picture.file} label={picture.path} />
            <span class="cut" title={picture.path}>{nameOf(picture)}</span>
            <SendingNote
              picture={picture}
              state={queue?.pictures.get(picture.key)}
            />
            {!frozen && (
              <span class="row">
                {i > 0 && (
                  <button
                    type="button"
                    class="small"
                    aria-label={`Move ${picture.path} forward`}
                    onClick={() => onForward(picture)}
                  >
                    ←
                  </button>
                )}
                <button
                  type="button"
                  class="small"
                  aria-label={`Leave ${picture.path} out`}
                  onClick={() => onRemove(picture)}
                >
                  ×
                </button>
              </span>
            )}
          </li>
        ))}
      </ol>
    </li>
  );
}

function nameOf({ path }: Picture): string {
  return path.split("/").at(-1)!;
}

function SendingNote({ picture, state }: {
  picture: Picture;
  state: SendingState | undefined;
}) {
  switch (state?.name) {
    case undefined:
    case "waiting":
      return <small class="quiet">{formatBytes(picture.file.size)}</small>;
    case "on its way":
      return <small class="state busy">sending</small>;
    case "sent":
      return <small class="state good">sent</small>;
    case "refused":
      return <small class="state bad" title={state.why}>refused</small>;
  }
}

function Sending(
  props: AssignedProps & { sendable: readonly Picture[] },
) {
  const { client, set, state, assignment, only, sendable } = props;
  const { queue, mode, smaller } = state;
  const { busy, error, run } = useAction();
  const limit = imageLimit();
  const large = largePictures(sendable, limit);
  const tooLarge = sendable.filter(({ file }) => file.size > limit);
  const filled = assignment.groups
    .filter(({ sku }) => existingImages(props, sku) > 0).length;
  const isRunning = queue?.isRunning === true;
  const isAsked = filled > 0;
  const isOpen = isAsked && mode === null;
  const refused = refusedIn(state, sendable);
  const left = sendable.filter(({ key }) => {
    const sending = queue?.pictures.get(key)?.name;
    return sending !== "sent" && sending !== "refused";
  });
  const put = () =>
    run(() => placeOnce(props, isAsked ? mode ?? "keep" : "keep"));
  const isSent = queue !== null && left.length === 0 && refused.length === 0;
  const wasSent = useRef(false);
  useEffect(() => {
    if (isSent && !wasSent.current) put();
    wasSent.current = isSent;
  }, [isSent]);
  return (
    <>
      {isAsked && (
        <ModeChoice
          lead={only !== null
            ? "The product has pictures already."
            : `${plural(filled, "product")} ${
              filled === 1 ? "has" : "have"
            } pictures already.`}
          mode={mode}
          disabled={isRunning}
          onMode={(mode) => set.change({ mode })}
        />
      )}
      {large.length > 0 && (
        <label class="field">
          <input
            type="checkbox"
            checked={smaller}
            disabled={isRunning}
            onChange={(event) =>
              set.change({ smaller: event.currentTarget.checked })}
          />
          <span>
            Make {plural(large.length, "large picture")}{" "}
            smaller before sending, to {formatCount(LONGER_SIDE)}{" "}
            pixels on the longer side ({formatBytes(sizeOf(large))} now)
          </span>
        </label>
      )}
      {tooLarge.length > 0 && !smaller && (
        <p class="note warn">
          The service accepts {formatBytes(limit)} at most, so it refuses{" "}
          {tooLarge.slice(0, FEW).map(({ path }) => path).join(", ")}
          {tooLarge.length > FEW &&
            ` and ${formatCount(tooLarge.length - FEW)} more`}
          .
        </p>
      )}
      {queue !== null && <Progress queue={queue} />}
      <Refused
        refused={refused}
        onSmaller={isRunning ? null : () => {
          set.change({ smaller: true });
          run(() => set.send(client, sendable));
        }}
      />
      {error && <ErrorNote error={error} />}
      <p class="row">
        {isRunning && (
          <button type="button" onClick={() => set.stop()}>Stop</button>
        )}
        {!isRunning && left.length > 0 && (
          <button
            type="button"
            class="main"
            disabled={busy || isOpen}
            onClick={() => run(() => set.send(client, sendable))}
          >
            {queue === null
              ? sendLabel(props)
              : `Send the other ${plural(left.length, "picture")}`}
          </button>
        )}
        {!isRunning && queue !== null && left.length === 0 && (
          <button type="button" class="main" disabled={busy} onClick={put}>
            {busy
              ? "Changing the products…"
              : refused.length === 0
              ? "Put them into the products"
              : "Put the others into the products"}
          </button>
        )}
        {isOpen && (
          <span class="quiet">
            Choose first what happens to the existing pictures.
          </span>
        )}
      </p>
    </>
  );
}

function sizeOf(pictures: readonly Picture[]): number {
  return pictures.reduce((sum, { file }) => sum + file.size, 0);
}

function sendLabel({ sendable, assignment: { groups }, only }: AssignedProps & {
  sendable: readonly Picture[];
}): string {
  const pictures = `Send ${plural(sendable.length, "picture")}`;
  return only === null
    ? `${pictures} to ${plural(groups.length, "product")}`
    : pictures;
}

const MODES = [
  { mode: "keep", label: "Keep them, and add the new ones" },
  { mode: "replace", label: "Replace them" },
] as const;

function ModeChoice({ lead, mode, disabled, onMode }: {
  lead: string;
  mode: PlacingMode | null;
  disabled: boolean;
  onMode: (mode: PlacingMode) => void;
}) {
  return (
    <fieldset disabled={disabled}>
      <legend>{lead}</legend>
      <p class="row">
        {MODES.map((one) => (
          <label key={one.mode} class="row">
            <input
              type="radio"
              name="picture-mode"
              checked={mode === one.mode}
              onChange={() => onMode(one.mode)}
            />
            {one.label}
          </label>
        ))}
      </p>
    </fieldset>
  );
}

/** Puts the sent pictures into rows and stored products, once at a time. */
async function placeOnce(
  props: AssignedProps,
  mode: PlacingMode,
): Promise<void> {
  const { set } = props;
  if (set.isPlacing) return;
  set.isPlacing = true;
  try {
    await place(props, mode);
  } finally {
    set.isPlacing = false;
  }
}

async function place(
  { client, set, places, only, assignment }: AssignedProps,
  mode: PlacingMode,
): Promise<void> {
  const { urls } = set;
  const sent = assignment.groups.map(({ sku, pictures }) => ({
    sku,
    urls: pictures.flatMap(({ key }) => urls.get(key) ?? []),
  })).filter((one) => one.urls.length > 0);
  const known = new Set(only === null ? places.skus : [only]);
  const bare = mode === "keep" && only === null
    ? sent.filter(({ sku }) => known.has(sku) && places.countImages(sku) === 0)
    : [];
  const stored = await storedBySku(client, bare.map(({ sku }) => sku));
  // A cell cannot hold the descriptions of stored images. To keep them, the row
  // gets no images, and the stored product is changed.
  for (const { sku, images } of stored.values()) {
    if (images.some(({ alt }) => (alt ?? "") !== "")) known.delete(sku);
  }
  const inRows = sent.filter(({ sku }) => known.has(sku));
  const others = sent.filter(({ sku }) => !known.has(sku));
  const placed = await placeInProducts(client, others, mode);
  places.place(
    inRows.map((one) => ({
      ...one,
      stored: stored.get(one.sku)?.images.map(({ url }) => url) ?? [],
    })),
    mode,
  );
  set.change({ placed: { ...placed, rows: inRows.length } });
}

function Progress({ queue }: { queue: Queue }) {
  const { sent, refused, left } = countsOf(queue);
  const { failure, isRunning } = queue;
  return (
    <>
      <div class="row">
        <progress
          class="grow"
          aria-label="Pictures sent"
          max={queue.pictures.size}
          value={sent + refused}
        />
        <strong>
          {formatCount(sent)} of {formatCount(queue.pictures.size)}
        </strong>
      </div>
      {failure !== null && (isRunning
        ? (
          <p class="note warn" role="status">
            {failure.message} The sending continues by itself after a pause.
          </p>
        )
        : <ErrorNote error={failure} />)}
      {failure === null && !isRunning && left > 0 && (
        <p class="quiet">Stopped. What was sent is not sent again.</p>
      )}
    </>
  );
}

type RefusedPicture = Extract<SendingState, { name: "refused" }> & {
  picture: Picture;
};

function refusedIn(
  { queue }: SetState,
  pictures: readonly Picture[],
): RefusedPicture[] {
  return pictures.flatMap((picture) => {
    const sending = queue?.pictures.get(picture.key);
    return sending?.name === "refused" ? [{ ...sending, picture }] : [];
  });
}

/** The pictures that the service refuses, with its reasons. */
function Refused({ refused, onSmaller }: {
  refused: readonly RefusedPicture[];
  /** null while pictures are being sent, and afterwards. */
  onSmaller: (() => void) | null;
}) {
  if (refused.length === 0) return null;
  const tooLarge = refused.filter(({ isTooLarge }) => isTooLarge);
  return (
    <div class="note bad" role="alert">
      <p>
        The service refuses {plural(refused.length, "picture")}:
      </p>
      <ul>
        {refused.slice(0, SHOWN).map(({ picture, why }) => (
          <li key={picture.key}>
            <span class="mono break">{picture.path}</span>: {why}
          </li>
        ))}
        {refused.length > SHOWN && (
          <li>and {formatCount(refused.length - SHOWN)} more</li>
        )}
      </ul>
      {tooLarge.length > 0 && onSmaller !== null && (
        <p>
          <button type="button" onClick={onSmaller}>
            Make {plural(tooLarge.length, "picture")} smaller and send again
          </button>
        </p>
      )}
    </div>
  );
}

/** Where the pictures are now. */
function PlacedNote({ placed, only }: {
  placed: NonNullable<SetState["placed"]>;
  only: string | null;
}) {
  const { import_id, products, unknown, rows } = placed;
  return (
    <div class={`note ${unknown.length === 0 ? "good" : "warn"}`} role="status">
      {only !== null && (
        <p>
          The pictures are in the form. “Save” stores them.
        </p>
      )}
      {only === null && rows > 0 && (
        <p>
          The pictures are in {plural(rows, "row")}{" "}
          of the table. Check the table and upload it to store them.
        </p>
      )}
      {import_id !== null && (
        <p>
          The pictures of {plural(products, "product")} are being stored:{" "}
          <a href={linkTo("imports", import_id)}>see or undo the change</a>
        </p>
      )}
      {unknown.length > 0 && (
        <p>
          No product has these SKUs any more, so their pictures are not used:
          {" "}
          {unknown.slice(0, 5).join(", ")}
          {unknown.length > 5 &&
            ` and ${formatCount(unknown.length - 5)} more`}.
        </p>
      )}
    </div>
  );
}
