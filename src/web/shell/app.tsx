/** The whole page: the header, the view of the current address, and notes. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Client, OperatorClient, Trigger } from "../../client/mod.ts";
import {
  describeOutcome,
  finishedUnseen,
  isCompleted,
  reviewsWaiting,
  stopFollowing,
  uploadProgress,
} from "../state/background.ts";
import { readDroppedItems } from "../lib/browser.ts";
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
import { discardAllDrafts, hasUnsavedDrafts } from "../products/unsaved.ts";
import { SignInView } from "./sign_in.tsx";
import { UploadView } from "../import/start.tsx";

/** Except `UploadView`, the views of a kind of account are loaded when needed. */
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

interface ViewEntry {
  name: string;
  label: string;
  /**
   * The view whose entry in the navigation is marked as current. A view with a
   * parent view has no entry.
   */
  parentView?: string;
}

/** A view that needs a client. */
interface ClientView<C> extends ViewEntry {
  render(client: C, id: string | null): preact.JSX.Element;
}

/** A view with its client. */
interface View extends ViewEntry {
  render(id: string | null): preact.JSX.Element;
}

/** The views of a seller; the first one is the start view. */
const SELLER_VIEWS: readonly ClientView<Client>[] = [
  {
    name: "upload",
    label: "Upload",
    render: (client) => <UploadView client={client} />,
  },
  {
    name: "uploads",
    label: "History",
    render: (client, id) =>
      id === null
        ? <UploadsView client={client} />
        : <TransactionView key={id} client={client} id={id} />,
  },
  {
    name: "imports",
    label: "Import",
    parentView: "uploads",
    render: (client, id) =>
      id === null
        ? <UploadsView client={client} />
        : <ImportView key={id} client={client} id={id} />,
  },
  {
    name: "products",
    label: "Products",
    render: (client, id) =>
      id === null
        ? <ProductsView client={client} />
        : <ProductView key={id} client={client} id={id} />,
  },
  {
    name: "new",
    label: "New product",
    parentView: "products",
    render: (client) => <NewProductView client={client} />,
  },
  {
    name: "contacts",
    label: "Contacts",
    render: (client) => <ContactsView client={client} />,
  },
  {
    name: "webhooks",
    label: "Webhooks",
    render: (client, id) =>
      id === null
        ? <WebhooksView client={client} />
        : <DeliveriesView key={id} client={client} trigger={id as Trigger} />,
  },
  {
    name: "keys",
    label: "Keys",
    render: (client) => <KeysView client={client} />,
  },
];

/** The views of an operator; the first one is the start view. */
const OPERATOR_VIEWS: readonly ClientView<OperatorClient>[] = [
  {
    name: "overview",
    label: "Overview",
    render: (client) => <OperatorView client={client} />,
  },
  {
    name: "sellers",
    label: "Sellers",
    render: (client, id) =>
      id === null
        ? <SellersView client={client} />
        : <SellerView key={id} client={client} id={id} />,
  },
  {
    name: "reviews",
    label: "Review",
    render: (client) => <ReviewsView client={client} />,
  },
  {
    name: "categories",
    label: "Categories",
    render: (client) => <CategoriesView client={client} />,
  },
  {
    name: "refusals",
    label: "Refusals",
    render: (client) => <RefusalsView client={client} />,
  },
  {
    name: "audit",
    label: "Audit",
    render: (client) => <AuditView client={client} />,
  },
];

/** Views that load the number of waiting reviews themselves. */
const VIEWS_WITH_REVIEW_COUNT = ["reviews", "overview"];

export function App() {
  const current = useStore(session);
  const address = useStore(route);
  const main = useRef<HTMLElement>(null);
  const signedIn = current.role !== null;
  const views = useViews(signedIn ? current : null);
  const view = signedIn ? viewOfRoute(views, address) : null;
  useTitleFocus(main, `${view?.name} ${address.id}`);
  useFileDrop(signedIn ? current : null);
  const viewLoadsCount = VIEWS_WITH_REVIEW_COUNT.includes(view?.name ?? "");
  useReviewsWaiting(
    current.role === "operator" && !viewLoadsCount ? current.client : null,
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
        onClick={(event) => skipToContent(event, main.current)}
      >
        Skip to the content
      </a>
      <Header current={signedIn ? current : null} views={views} view={view} />
      <main id="main" ref={main} tabIndex={-1}>
        {signedIn && <ViewedSellerNote />}
        {view !== null ? view.render(address.id) : (
          <SignInView
            notice={current.role === null ? current.notice : null}
          />
        )}
      </main>
      <FinishedUploadNote />
      <SentPicturesNote />
      {signedIn && <Shortcuts views={views} />}
    </>
  );
}

/** The seller's views that an operator may read. */
const VIEWS_FOR_OPERATORS = SELLER_VIEWS
  .filter(({ name }) =>
    ["uploads", "imports", "products", "contacts", "webhooks"].includes(name)
  );

/**
 * The views of the signed-in user, or of the seller that an operator has opened.
 */
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
    return viewsWithClient(SELLER_VIEWS, current.client);
  }
  return seller === null
    ? viewsWithClient(OPERATOR_VIEWS, current.client)
    : viewsWithClient(VIEWS_FOR_OPERATORS, current.client.seller(seller));
}

function viewsWithClient<C>(
  views: readonly ClientView<C>[],
  client: C,
): View[] {
  return views.map((view) => ({
    ...view,
    render: (id: string | null) => view.render(client, id),
  }));
}

/** A note that names the seller whose views an operator sees. */
function ViewedSellerNote() {
  const seller = viewedSeller();
  return seller === null ? null : (
    <p class="note row">
      <span class="grow">
        You see the views of the seller{" "}
        <b class="break">{seller}</b>, read only.
      </span>
      <a href={linkTo("sellers", undefined, {}, null)}>Back to the sellers</a>
    </p>
  );
}

/** The letter of a view: pressed after `g`, it opens the view. */
function shortcutLetter(name: string, views: readonly View[]): string {
  const usedLetters = views.slice(
    0,
    views.findIndex((view) => view.name === name),
  )
    .map((view) => shortcutLetter(view.name, views));
  return [...LETTER_SOURCES[name] ?? name]
    .find((letter) => !usedLetters.includes(letter)) ?? "";
}

/** Texts whose letters are used instead of the letters of the view's name. */
const LETTER_SOURCES: Readonly<Record<string, string>> = { uploads: "history" };

/** Handles keyboard shortcuts outside of input fields; `?` lists the shortcuts. */
function Shortcuts({ views }: { views: readonly View[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    let isAfterG = false;
    const handleKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const isField = event.target instanceof Element &&
        event.target.matches("input, textarea, select");
      if (isField) return;
      const chosen = views.find(({ name }) =>
        isAfterG && shortcutLetter(name, views) === event.key
      );
      isAfterG = event.key === "g";
      if (event.key === "?") dialog.current?.showModal();
      else if (chosen !== undefined) goTo(chosen.name);
      else if (event.key === "/") {
        const search = document.querySelector<HTMLInputElement>(
          "input[type=search]",
        );
        search?.focus();
      } else return;
      event.preventDefault();
    };
    addEventListener("keydown", handleKey);
    return () => removeEventListener("keydown", handleKey);
  }, [views]);
  return (
    <dialog ref={dialog} class="card" aria-label="Keyboard shortcuts">
      <h2>Keyboard shortcuts</h2>
      <dl class="keys">
        {views.map(({ name, label }) => (
          <div key={name}>
            <dt>
              <kbd>g</kbd> <kbd>{shortcutLetter(name, views)}</kbd>
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
 * Sets the title of the browser tab. The progress comes first, because a narrow
 * tab shows only the start of the title.
 */
function useTitle(label: string): void {
  const percent = useStore(uploadProgress);
  const waiting = useStore(reviewsWaiting);
  useEffect(() => {
    const prefix = percent !== null
      ? `${percent} % · `
      : waiting !== null
      ? `(${waiting}) `
      : "";
    document.title = `${prefix}${label} · Seller interface`;
  }, [label, percent, waiting]);
}

/** Makes the browser ask before a page with unsaved work is closed. */
function useUnsavedWarning(): void {
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      const isUnsaved = hasUnsavedWork() || hasUnsavedDrafts() ||
        openPictures.value?.isUnsaved;
      if (isUnsaved) event.preventDefault();
    };
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, []);
}

/** A note about an upload or import that ended while another view was open. */
function FinishedUploadNote() {
  const last = useStore(finishedUnseen);
  const { view, id } = useStore(route);
  const target = last && uploadView(last);
  const isOpen = target?.id === id && target?.view === view;
  return (
    <div class="toast" role="status">
      {last && target && !isOpen && (
        <p class={isCompleted(last) ? "note good" : "note warn"}>
          <span>
            <a href={linkTo(target.view, target.id)}>{uploadTitle(last)}</a>:
            {" "}
            {describeOutcome(last)}
          </span>
          <button
            type="button"
            class="small"
            onClick={() => finishedUnseen.set(null)}
          >
            Close
          </button>
        </p>
      )}
    </div>
  );
}

/** A note that pictures were sent, but are not yet in products. */
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

function viewOfRoute(views: readonly View[], { view }: Route): View {
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
          {views.filter(({ parentView }) => parentView === undefined)
            .map(({ name, label }) => (
              <a
                key={name}
                href={linkTo(name)}
                aria-current={name === (view?.parentView ?? view?.name)
                  ? "page"
                  : undefined}
              >
                {label}
              </a>
            ))}
        </nav>
      )}
      <span class="tools">
        {/* Opens in a new tab, because leaving the page closes the open file. */}
        <HandbookLink>Docs</HandbookLink>
        <ThemeButton />
        {current && (
          <button
            type="button"
            class="ghost"
            onClick={discardWorkAndSignOut}
          >
            Sign out
          </button>
        )}
      </span>
    </header>
  );
}

/** Signs out and discards all work, so that the next user does not see it. */
function discardWorkAndSignOut(): void {
  discardIntake();
  discardPictures();
  discardAllDrafts();
  finishedUnseen.set(null);
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

/** Moves the focus to the view's title when another view or id is opened. */
function useTitleFocus(
  main: { current: HTMLElement | null },
  viewAndId: string,
): void {
  const previous = useRef(viewAndId);
  useEffect(() => {
    if (previous.current === viewAndId) return;
    previous.current = viewAndId;
    const title = main.current?.querySelector("h1");
    (title ?? main.current)?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [viewAndId]);
}

/** Accepts files that a seller drops anywhere on the page, also before sign-in. */
function useFileDrop(current: Session | null): void {
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
      const dropped = await readDroppedItems(event.dataTransfer);
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

/** Focuses the content. A link to `#main` would change the route. */
function skipToContent(event: Event, main: HTMLElement | null): void {
  event.preventDefault();
  main?.focus();
}
