/** The frame around the views; it draws the view of the current address. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Client, OperatorClient, Trigger } from "../../client/mod.ts";
import {
  describeEnd,
  endedUnseen,
  isComplete,
  progress,
  reviewsWaiting,
  stopFollowing,
} from "../state/background.ts";
import { droppedFiles } from "../lib/browser.ts";
import { lazy } from "../ui/lazy.tsx";
import { uploadTitle, uploadView } from "../state/names.ts";
import { HandbookLink, useLoaded } from "../ui/components.tsx";
import {
  goTo,
  linkTo,
  type Route,
  route,
  viewedSeller,
} from "../state/route.ts";
import { sandbox } from "../state/sandbox.ts";
import { type Session, session, signOut } from "../state/session.ts";
import { useStore } from "../lib/store.ts";
import { openDropped } from "../import/open.ts";
import { discardIntake } from "../import/intake_state.ts";
import type { PictureSet } from "../pictures/picture_set.ts";
import {
  discardPictures,
  dropHandler,
  openPictures,
} from "../pictures/current.ts";
import { hasUnsavedWork, keepFile } from "../import/send/upload_state.ts";
import { useReviewsWaiting } from "./reviews_waiting.ts";
import { ThemeButton } from "./theme.tsx";
import { discardAllDrafts, hasUnsaved } from "../products/unsaved.ts";
import { SignInView } from "./sign_in.tsx";
import { UploadView } from "../import/start.tsx";

/** The views of each kind of account are loaded when needed. */
const loadSellerViews = () => import("./seller_views.ts");
const ContactsView = lazy(async () => (await loadSellerViews()).ContactsView);
const DeliveriesView = lazy(async () =>
  (await loadSellerViews()).DeliveriesView
);
const ImportView = lazy(async () => (await loadSellerViews()).ImportView);
const KeysView = lazy(async () => (await loadSellerViews()).KeysView);
const NewProductView = lazy(async () =>
  (await loadSellerViews()).NewProductView
);
const ProductView = lazy(async () => (await loadSellerViews()).ProductView);
const ProductsView = lazy(async () => (await loadSellerViews()).ProductsView);
const TransactionView = lazy(async () =>
  (await loadSellerViews()).TransactionView
);
const UploadsView = lazy(async () => (await loadSellerViews()).UploadsView);
const WebhooksView = lazy(async () => (await loadSellerViews()).WebhooksView);

const loadOperatorViews = () => import("./operator_views.ts");
const AuditView = lazy(async () => (await loadOperatorViews()).AuditView);
const CategoriesView = lazy(async () =>
  (await loadOperatorViews()).CategoriesView
);
const OperatorView = lazy(async () => (await loadOperatorViews()).OperatorView);
const RefusalsView = lazy(async () => (await loadOperatorViews()).RefusalsView);
const ReviewsView = lazy(async () => (await loadOperatorViews()).ReviewsView);
const SellerView = lazy(async () => (await loadOperatorViews()).SellerView);
const SellersView = lazy(async () => (await loadOperatorViews()).SellersView);

interface ViewName {
  name: string;
  label: string;
  /** For a view without an entry in the navigation: the view it belongs to. */
  within?: string;
}

interface ViewOf<C> extends ViewName {
  draw(client: C, id: string | null): preact.JSX.Element;
}

/** A view with its client. */
interface View extends ViewName {
  draw(id: string | null): preact.JSX.Element;
}

/** The first one is the start view. */
const SELLER_VIEWS: readonly ViewOf<Client>[] = [
  {
    name: "upload",
    label: "Upload",
    draw: (client) => <UploadView client={client} />,
  },
  {
    name: "uploads",
    label: "History",
    draw: (client, id) =>
      id === null
        ? <UploadsView client={client} />
        : <TransactionView key={id} client={client} id={id} />,
  },
  {
    name: "imports",
    label: "Import",
    within: "uploads",
    draw: (client, id) =>
      id === null
        ? <UploadsView client={client} />
        : <ImportView key={id} client={client} id={id} />,
  },
  {
    name: "products",
    label: "Products",
    draw: (client, id) =>
      id === null
        ? <ProductsView client={client} />
        : <ProductView key={id} client={client} id={id} />,
  },
  {
    name: "new",
    label: "New product",
    within: "products",
    draw: (client) => <NewProductView client={client} />,
  },
  {
    name: "contacts",
    label: "Contacts",
    draw: (client) => <ContactsView client={client} />,
  },
  {
    name: "webhooks",
    label: "Webhooks",
    draw: (client, id) =>
      id === null
        ? <WebhooksView client={client} />
        : <DeliveriesView key={id} client={client} trigger={id as Trigger} />,
  },
  {
    name: "keys",
    label: "Keys",
    draw: (client) => <KeysView client={client} />,
  },
];

const OPERATOR_VIEWS: readonly ViewOf<OperatorClient>[] = [
  {
    name: "overview",
    label: "Overview",
    draw: (client) => <OperatorView client={client} />,
  },
  {
    name: "sellers",
    label: "Sellers",
    draw: (client, id) =>
      id === null
        ? <SellersView client={client} />
        : <SellerView key={id} client={client} id={id} />,
  },
  {
    name: "reviews",
    label: "Review",
    draw: (client) => <ReviewsView client={client} />,
  },
  {
    name: "categories",
    label: "Categories",
    draw: (client) => <CategoriesView client={client} />,
  },
  {
    name: "refusals",
    label: "Refusals",
    draw: (client) => <RefusalsView client={client} />,
  },
  {
    name: "audit",
    label: "Audit",
    draw: (client) => <AuditView client={client} />,
  },
];

/** Views of an operator that count the products waiting for a review. */
const COUNTING_VIEWS = ["reviews", "overview"];

export function App() {
  const current = useStore(session);
  const place = useStore(route);
  const main = useRef<HTMLElement>(null);
  const signedIn = current.role !== null;
  const views = useViews(signedIn ? current : null);
  const view = signedIn ? viewAt(views, place) : null;
  useFocus(main, `${view?.name} ${place.id}`);
  useDrop(signedIn ? current : null);
  const countsItself = COUNTING_VIEWS.includes(view?.name ?? "");
  useReviewsWaiting(
    current.role === "operator" && !countsItself ? current.client : null,
  );
  useTitle(view?.label ?? "Sign in");
  useUnsavedWarning();
  useEffect(() => {
    if (signedIn) return;
    stopFollowing();
    reviewsWaiting.set(null);
    keepFile();
    openPictures.value?.stop();
  }, [signedIn]);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => skip(event, main.current)}
      >
        Skip to the content
      </a>
      <Header current={signedIn ? current : null} views={views} view={view} />
      <main id="main" ref={main} tabIndex={-1}>
        {signedIn && <ViewedNote />}
        {view !== null ? view.draw(place.id) : (
          <SignInView
            notice={current.role === null ? current.notice : null}
          />
        )}
      </main>
      <EndNote />
      <SentPicturesNote />
      {signedIn && <Shortcuts views={views} />}
    </>
  );
}

/** The views of a seller that an operator may read. */
const VIEWS_FOR_OPERATORS = SELLER_VIEWS
  .filter(({ name }) =>
    ["uploads", "imports", "products", "contacts", "webhooks"].includes(name)
  );

/** The views of the signed-in user, or of the seller that an operator views. */
function useViews(current: Session | null): readonly View[] {
  const seller = viewedSeller();
  return useMemo(() => viewsOf(current, seller), [current, seller]);
}

function viewsOf(
  current: Session | null,
  seller: string | null,
): readonly View[] {
  if (current === null) return [];
  if (current.role === "seller") {
    return withClient(SELLER_VIEWS, current.client);
  }
  return seller === null
    ? withClient(OPERATOR_VIEWS, current.client)
    : withClient(VIEWS_FOR_OPERATORS, current.client.seller(seller));
}

function withClient<C>(views: readonly ViewOf<C>[], client: C): View[] {
  return views.map((view) => ({
    ...view,
    draw: (id: string | null) => view.draw(client, id),
  }));
}

/** Tells an operator which seller's views are shown. */
function ViewedNote() {
  const seller = viewedSeller();
  return seller === null ? null : (
    <p class="note row">
      <span class="grow">
        You see what the seller <b class="break">{seller}</b> sees, read only.
      </span>
      <a href={linkTo("sellers", undefined, {}, null)}>Back to the sellers</a>
    </p>
  );
}

/** The letter that opens a view after `g`. */
function letterOf(name: string, views: readonly View[]): string {
  const taken = views.slice(0, views.findIndex((view) => view.name === name))
    .map((view) => letterOf(view.name, views));
  return [...LETTER_SOURCES[name] ?? name].find((one) =>
    !taken.includes(one)
  ) ?? "";
}

/** For views whose label differs from their name: the label. */
const LETTER_SOURCES: Readonly<Record<string, string>> = { uploads: "history" };

/** Keys that work outside of fields; `?` lists them. */
function Shortcuts({ views }: { views: readonly View[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    let isAfterG = false;
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const isField = event.target instanceof Element &&
        event.target.matches("input, textarea, select");
      if (isField) return;
      const wanted = views.find(({ name }) =>
        isAfterG && letterOf(name, views) === event.key
      );
      isAfterG = event.key === "g";
      if (event.key === "?") dialog.current?.showModal();
      else if (wanted !== undefined) goTo(wanted.name);
      else if (event.key === "/") {
        const search = document.querySelector<HTMLInputElement>(
          "input[type=search]",
        );
        search?.focus();
      } else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [views]);
  return (
    <dialog ref={dialog} class="card" aria-label="Keyboard shortcuts">
      <h2>Keyboard shortcuts</h2>
      <dl class="keys">
        {views.map(({ name, label }) => (
          <div key={name}>
            <dt>
              <kbd>g</kbd> <kbd>{letterOf(name, views)}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>/</kbd>
          </dt>
          <dd>Search or filter</dd>
        </div>
        <div>
          <dt>
            <kbd>?</kbd>
          </dt>
          <dd>These shortcuts</dd>
        </div>
        <div>
          <dt>
            <kbd>Esc</kbd>
          </dt>
          <dd>Close</dd>
        </div>
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

/**
 * Sets the tab's title. Progress comes first, because narrow tabs cut the end.
 */
function useTitle(label: string): void {
  const percent = useStore(progress);
  const waiting = useStore(reviewsWaiting);
  useEffect(() => {
    const lead = percent !== null
      ? `${percent} % · `
      : waiting !== null
      ? `(${waiting}) `
      : "";
    document.title = `${lead}${label} · Seller interface`;
  }, [label, percent, waiting]);
}

/** Makes the browser ask before a page with unsaved work is closed. */
function useUnsavedWarning(): void {
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      const isUnsaved = hasUnsavedWork() || hasUnsaved() ||
        openPictures.value?.isUnsaved;
      if (isUnsaved) event.preventDefault();
    };
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, []);
}

/** A note about an upload or import that ended while another view was open. */
function EndNote() {
  const last = useStore(endedUnseen);
  const { view, id } = useStore(route);
  const place = last && uploadView(last);
  const isOpen = place?.id === id && place?.view === view;
  return (
    <div class="toast" role="status">
      {last && place && !isOpen && (
        <p class={isComplete(last) ? "note good" : "note warn"}>
          <span>
            <a href={linkTo(place.view, place.id)}>{uploadTitle(last)}</a>:{" "}
            {describeEnd(last)}
          </span>
          <button
            type="button"
            class="small"
            onClick={() =>
              endedUnseen.set(null)}
          >
            Close
          </button>
        </p>
      )}
    </div>
  );
}

/** Says that pictures were sent and are not in products yet. */
function SentPicturesNote() {
  const set = useStore(openPictures);
  const { view } = useStore(route);
  return set === null || view === "" || view === "upload"
    ? null
    : <SentPictures set={set} />;
}

function SentPictures({ set }: { set: PictureSet }) {
  useStore(set.state);
  return (
    <div class="toast" role="status">
      {set.awaitsPlacing && (
        <p class="note warn">
          <span>
            The pictures are sent. <a href={linkTo("upload")}>Open Upload</a>
            {" "}
            to put them into the products.
          </span>
        </p>
      )}
    </div>
  );
}

function viewAt(views: readonly View[], { view }: Route): View {
  return views.find(({ name }) => name === view) ?? views[0];
}

function Header({ current, views, view }: {
  current: Session | null;
  views: readonly View[];
  view: View | null;
}) {
  return (
    <header>
      <span class="brand">
        <span class="name">Seller interface</span>
        {current && <SignedInName current={current} />}
        {sandbox && <small class="state busy">sandbox</small>}
        {sandbox && (
          <a href={sandbox.mailUrl} target="_blank" rel="noopener">Mails</a>
        )}
      </span>
      {current && (
        <nav aria-label="Views">
          {views.filter(({ within }) => within === undefined)
            .map(({ name, label }) => (
              <a
                key={name}
                href={linkTo(name)}
                aria-current={name === (view?.within ?? view?.name)
                  ? "page"
                  : undefined}
              >
                {label}
              </a>
            ))}
        </nav>
      )}
      <span class="tools">
        {/* In another tab: leaving the page would lose the opened file. */}
        <HandbookLink>Docs</HandbookLink>
        <ThemeButton />
        {current && (
          <button
            type="button"
            class="ghost"
            onClick={endSession}
          >
            Sign out
          </button>
        )}
      </span>
    </header>
  );
}

/** Signs out and discards all work, so that the next user does not see it. */
function endSession(): void {
  discardIntake();
  discardPictures();
  discardAllDrafts();
  endedUnseen.set(null);
  signOut();
}

/** The name of the account that is signed in. */
function SignedInName({ current }: { current: Session }) {
  const { data } = useLoaded(
    async (signal) =>
      current.role === "operator"
        ? "Operator"
        : (await current.client.account.get({ signal })).account.name,
    [current],
  );
  return data && <span class="owner cut" title={data}>{data}</span>;
}

/** Moves the focus to the view's title after navigation. */
function useFocus(main: { current: HTMLElement | null }, where: string): void {
  const before = useRef(where);
  useEffect(() => {
    if (before.current === where) return;
    before.current = where;
    const title = main.current?.querySelector("h1");
    (title ?? main.current)?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [where]);
}

/** Accepts files dropped anywhere, even while nobody is signed in. */
function useDrop(current: Session | null): void {
  useEffect(() => {
    if (current?.role === "operator") return;
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      document.body.classList.add("dropping");
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) {
        document.body.classList.remove("dropping");
      }
    };
    const drop = async (event: DragEvent) => {
      document.body.classList.remove("dropping");
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      const handler = dropHandler.value;
      const dropped = await droppedFiles(event.dataTransfer);
      if (dropped.files.length === 0) return;
      if (handler !== null) return handler(dropped);
      goTo("upload");
      openDropped(current?.client ?? null, dropped);
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, [current]);
}

/** Skips to the content. A link to `#main` would open a view of that name. */
function skip(event: Event, main: HTMLElement | null): void {
  event.preventDefault();
  main?.focus();
}
