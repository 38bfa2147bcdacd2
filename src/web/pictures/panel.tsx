/** The panel of chosen pictures: their products, their order and their state. */
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
  type PictureDestination,
  placeInProducts,
  type PlacingMode,
  storedProductsBySku,
} from "./placing.ts";
import { countByState, type Queue, type SendingState } from "./queue.ts";
import { LONGER_SIDE } from "./resizing.ts";
import { imageLimit } from "./sending.ts";
import {
  type Assignment,
  assignPictures,
  largePictures,
  type Picture,
  type PictureGroup,
  PICTURES_PER_PRODUCT,
  picturesIn,
  type UnmatchedPicture,
  withChosenProduct,
  withinImageLimit,
  withPictureMovedForward,
} from "./set.ts";
import { PictureThumb } from "./thumb.tsx";

const NO_DESTINATION: PictureDestination = {
  skus: [],
  nameOf: () => "",
  countImages: () => 0,
  place: () => {},
};

/** The number of pictures shown at first, and added by each "Show more". */
const PAGE_SIZE = 100;
/** Lists up to this length are expanded. */
const OPEN_LIST_LIMIT = 5;

export function PicturesPanel(
  { client, set, destination = NO_DESTINATION, only = null, onClose }: {
    client: Client;
    set: PictureSet;
    destination?: PictureDestination;
    /** The product of all pictures; null if their names determine products. */
    only?: string | null;
    onClose: () => void;
  },
) {
  const state = useStore(set.state);
  const { pictures, queue, search, placed } = state;
  useSearch(client, set, destination, only);
  const assignment = useAssignment(state, destination, only);
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
      <UnsentFiles state={state} />
      {!isEmpty && placed === null && (
        <>
          {only === null && <SearchNote set={set} state={state} />}
          {assignment !== null && isSearched && (
            <AssignedPictures
              client={client}
              set={set}
              state={state}
              destination={destination}
              only={only}
              assignment={assignment}
            />
          )}
        </>
      )}
      {placed !== null && (
        <>
          <RefusedPictures
            refused={refusedIn(state, pictures)}
            onSmaller={null}
          />
          <PlacedNote placed={placed} only={only} />
        </>
      )}
    </section>
  );
}

/** Adds tables to the files that are not sent, for a view that opens no tables. */
export function onlyPictures(
  { products, unsent, ...sorted }: SortedFiles,
): Omit<SortedFiles, "products"> {
  const others = products.map(({ path }) => ({ path, why: NOT_A_PICTURE }));
  return { ...sorted, unsent: [...unsent, ...others] };
}

/** Searches the stored products once after pictures were added. */
function useSearch(
  client: Client,
  set: PictureSet,
  destination: PictureDestination,
  only: string | null,
): void {
  const { search, pictures } = useStore(set.state);
  const isWaiting = search.name === "waiting" && pictures.length > 0;
  useEffect(() => {
    if (!isWaiting) return;
    if (only !== null) return set.endSearch();
    const outdated = new AbortController();
    runInSlices(skuIndexOf(destination.skus), outdated.signal).then((index) => {
      if (index === null) return;
      const skus = pictures.flatMap(({ path }) => index.match(path).skus);
      set.search(client, [...new Set(skus)]);
    });
    return () => outdated.abort();
  }, [isWaiting]);
}

/** Assigns the pictures to products; null until this is done. */
function useAssignment(
  { pictures, stored, choices }: SetState,
  { skus }: PictureDestination,
  only: string | null,
): Assignment | null {
  const [index, setIndex] = useState<SkuIndex | null>(null);
  const [assignment, setAssignment] = useState<Assignment | null>(null);
  useEffect(() => {
    const outdated = new AbortController();
    runInSlices(skuIndexOf([...skus, ...stored.keys()]), outdated.signal)
      .then((newIndex) => newIndex !== null && setIndex(newIndex));
    return () => outdated.abort();
  }, [skus, stored]);
  useEffect(() => {
    if (index === null) return;
    const outdated = new AbortController();
    runInSlices(assignPictures(pictures, index, choices, only), outdated.signal)
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
  const { sent, refused, left } = countByState(queue);
  if (left === 0) return `All pictures are sent, except for ${refused}.`;
  const quarter = Math.floor(4 * sent / queue.pictures.size) * 25;
  return `${quarter} percent of the pictures are sent.`;
}

/** Files that are not sent, with the reasons. */
function UnsentFiles(
  { state: { unsent, systemFiles, placed } }: { state: SetState },
) {
  return (
    <>
      {unsent.length > 0 && (
        <details
          class="note warn"
          open={unsent.length <= OPEN_LIST_LIMIT && placed === null}
        >
          <summary>
            {plural(unsent.length, "file")}{" "}
            {placed === null ? "will not be sent" : "not sent"}
          </summary>
          <ul>
            {unsent.slice(0, PAGE_SIZE).map(({ path, why }) => (
              <li key={path}>
                <span class="mono break">{path}</span>: {why}
              </li>
            ))}
            {unsent.length > PAGE_SIZE && (
              <li>and {formatCount(unsent.length - PAGE_SIZE)} more</li>
            )}
          </ul>
        </details>
      )}
      {systemFiles.length > 0 && (
        <p class="quiet">
          Left out, as files of the operating system:{" "}
          {[...new Set(systemFiles)].slice(0, OPEN_LIST_LIMIT).join(", ")}.
        </p>
      )}
    </>
  );
}

function SearchNote({ set, state: { search } }: {
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
  destination: PictureDestination;
  only: string | null;
  assignment: Assignment;
}

/** The number of images that a row or a stored product already has. */
function existingImages(
  { destination, state }: Pick<AssignedProps, "destination" | "state">,
  sku: string,
): number {
  return destination.countImages(sku) ||
    (state.stored.get(sku)?.images.length ?? 0);
}

function AssignedPictures(all: AssignedProps) {
  const { mode } = all.state;
  const assignment = mode === "keep"
    ? withinImageLimit(all.assignment, (sku) => existingImages(all, sku))
    : all.assignment;
  const props = { ...all, assignment };
  const { client, set, state, only, destination } = props;
  const { groups, unmatched, leftOut } = assignment;
  const { queue } = state;
  const [shown, setShown] = useState(PAGE_SIZE);
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
          A product can have {PICTURES_PER_PRODUCT}{" "}
          pictures, so these will not be sent:{" "}
          {tooMany.slice(0, 5).map(({ path }) => path).join(", ")}
          {tooMany.length > 5 &&
            ` and ${formatCount(tooMany.length - 5)} more`}.
        </p>
      )}
      {sendable.length > 0 && <Sending {...props} sendable={sendable} />}
      {unmatched.length > 0 && (
        <details
          open={unmatched.length <= OPEN_LIST_LIMIT}
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
              <UnmatchedItem
                key={one.picture.key}
                unmatched={one}
                disabled={isRunning}
                hasProduct={(sku) =>
                  destination.skus.includes(sku)
                    ? Promise.resolve(true)
                    : set.knows(client, sku)}
                onProduct={(sku) =>
                  set.change({
                    choices: withChosenProduct(
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
          <ProductPictures
            key={group.sku}
            group={group}
            title={only === null
              ? titleOf(group.sku, state, destination)
              : null}
            queue={queue}
            frozen={isRunning}
            onForward={(picture) =>
              set.change({
                choices: withPictureMovedForward(
                  set.state.value.choices,
                  group,
                  picture,
                ),
              })}
            onRemove={(picture) =>
              set.change({
                choices: withChosenProduct(
                  set.state.value.choices,
                  picture,
                  null,
                ),
              })}
          />
        ))}
      </ul>
      {(shownGroups.length < groups.length ||
        shownUnmatched.length < unmatched.length) && (
        <p>
          <button type="button" onClick={() => setShown(shown + PAGE_SIZE)}>
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

/** The first groups with, in total, at most this number of pictures. */
function firstGroups(
  groups: readonly PictureGroup[],
  limit: number,
): readonly PictureGroup[] {
  let pictures = 0;
  const end = groups.findIndex((group) =>
    (pictures += group.pictures.length) > limit
  );
  return end < 0 ? groups : groups.slice(0, Math.max(1, end));
}

function titleOf(
  sku: string,
  { stored }: SetState,
  destination: PictureDestination,
): string {
  const name = destination.nameOf(sku);
  if (name !== "") return name;
  return stored.get(sku)?.title ?? "";
}

function UnmatchedItem({ unmatched, disabled, hasProduct, onProduct }: {
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

function ProductPictures({ group, title, queue, frozen, onForward, onRemove }: {
  group: PictureGroup;
  /** Null if the product is that of the form. */
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
    case "sending":
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
  const placeSent = () =>
    run(() => placeOnce(props, isAsked ? mode ?? "keep" : "keep"));
  const isSent = queue !== null && left.length === 0 && refused.length === 0;
  const wasSent = useRef(false);
  useEffect(() => {
    if (isSent && !wasSent.current) placeSent();
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
          {tooLarge.slice(0, OPEN_LIST_LIMIT).map(({ path }) => path).join(
            ", ",
          )}
          {tooLarge.length > OPEN_LIST_LIMIT &&
            ` and ${formatCount(tooLarge.length - OPEN_LIST_LIMIT)} more`}
          .
        </p>
      )}
      {queue !== null && <SendingProgress queue={queue} />}
      <RefusedPictures
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
          <button
            type="button"
            class="main"
            disabled={busy}
            onClick={placeSent}
          >
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

/** Adds the sent pictures to rows and stored products; never twice at a time. */
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
  { client, set, destination, only, assignment }: AssignedProps,
  mode: PlacingMode,
): Promise<void> {
  const { urls } = set;
  const sent = assignment.groups.map(({ sku, pictures }) => ({
    sku,
    urls: pictures.flatMap(({ key }) => urls.get(key) ?? []),
  })).filter((one) => one.urls.length > 0);
  const known = new Set(only === null ? destination.skus : [only]);
  const bare = mode === "keep" && only === null
    ? sent.filter(({ sku }) =>
      known.has(sku) && destination.countImages(sku) === 0
    )
    : [];
  const stored = await storedProductsBySku(client, bare.map(({ sku }) => sku));
  // A cell cannot contain the descriptions of stored images. To keep them, the
  // stored product is changed instead of the row.
  for (const { sku, images } of stored.values()) {
    if (images.some(({ alt }) => (alt ?? "") !== "")) known.delete(sku);
  }
  const inRows = sent.filter(({ sku }) => known.has(sku));
  const others = sent.filter(({ sku }) => !known.has(sku));
  const placed = await placeInProducts(client, others, mode);
  destination.place(
    inRows.map((one) => ({
      ...one,
      stored: stored.get(one.sku)?.images.map(({ url }) => url) ?? [],
    })),
    mode,
  );
  set.change({ placed: { ...placed, rows: inRows.length } });
}

function SendingProgress({ queue }: { queue: Queue }) {
  const { sent, refused, left } = countByState(queue);
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

/** A list of the pictures that the service refused, with the reasons. */
function RefusedPictures({ refused, onSmaller }: {
  refused: readonly RefusedPicture[];
  /** Null while pictures are being sent, and after they were added. */
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
        {refused.slice(0, PAGE_SIZE).map(({ picture, why }) => (
          <li key={picture.key}>
            <span class="mono break">{picture.path}</span>: {why}
          </li>
        ))}
        {refused.length > PAGE_SIZE && (
          <li>and {formatCount(refused.length - PAGE_SIZE)} more</li>
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

/** A note that says where the pictures are now. */
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
