/** A real browser that opens the page, if one is installed. */
import {
  type Browser,
  chromium,
  type ConsoleMessage,
  type Page,
} from "playwright-core";

/** The first one draws no window: half the processor time. */
const NAMES = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome-stable",
  "google-chrome",
];

/** Path of a browser; null if there is none. */
const browserPath: string | null = findBrowser();

function findBrowser(): string | null {
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  for (const name of NAMES) {
    for (const folder of folders) {
      const path = `${folder}/${name}`;
      try {
        if (folder !== "" && Deno.statSync(path).isFile) return path;
      } catch {
        // Not installed.
      }
    }
  }
  return null;
}

export interface Look {
  colorScheme?: "light" | "dark";
  /** Pixels. */
  width?: number;
}

/** A separate tab, with the errors that occurred in it. */
export class Tab implements AsyncDisposable {
  readonly page: Page;
  /** Uncaught errors, and violations of the Content-Security-Policy. */
  readonly faults: string[] = [];
  readonly #leave: () => Promise<void>;

  constructor(page: Page, leave: () => Promise<void>) {
    this.page = page;
    this.#leave = leave;
    page.on("pageerror", this.#onError);
    page.on("console", this.#onMessage);
  }

  readonly #onError = (error: Error) => void this.faults.push(error.message);

  readonly #onMessage = (message: ConsoleMessage) => {
    const text = message.text();
    if (/content security policy|trusted/i.test(text)) this.faults.push(text);
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.page.off("pageerror", this.#onError);
    this.page.off("console", this.#onMessage);
    await this.#leave();
  }
}

/**
 * One browser, which the first tab starts. It can reach only the test's hosts.
 */
class TestBrowser {
  #browser: Promise<Browser> | undefined;
  /** A page that no test uses at present: opening one takes a second. */
  #spare: Page | null = null;

  /**
   * Opens a tab. It shares nothing with earlier ones, because each test has its
   * own service, and therefore its own origin.
   */
  async openTab(
    { colorScheme = "light", width = 1280 }: Look = {},
  ): Promise<Tab> {
    const page = this.#spare ?? await this.#newPage();
    this.#spare = null;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    return new Tab(page, async () => {
      try {
        // An origin may be used again.
        await page.evaluate("localStorage.clear(), sessionStorage.clear()");
        await page.goto("about:blank");
        this.#spare = page;
      } catch {
        await page.close();
      }
    });
  }

  async #newPage(): Promise<Page> {
    this.#browser ??= launch();
    return await (await this.#browser).newPage();
  }

  async close(): Promise<void> {
    await (await this.#browser)?.close();
  }
}

function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath!,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-software-rasterizer",
      "--disable-extensions",
      "--disable-quic",
      "--disable-dev-shm-usage",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // A separate process for each opened page takes a third of a second.
      "--renderer-process-limit=1",
      "--disable-site-isolation-trials",
      // Drawing and the network need no separate process either: a tenth of the
      // processor time.
      "--in-process-gpu",
      "--enable-features=NetworkServiceInProcess2",
    ],
  });
}

export type OpenTab = (look?: Look) => Promise<Tab>;

const browser = new TestBrowser();
if (browserPath === null) {
  console.log("no Chromium is found: the tests of the page are left out");
} else {
  Deno.test.afterAll(() => browser.close());
}

/**
 * Registers a test with a browser, which outlives the test, so nothing of it
 * counts as a leak.
 */
export function browserTest(
  name: string,
  fn: (openTab: OpenTab) => Promise<void>,
): void {
  Deno.test({
    name,
    fn: () => fn((look) => browser.openTab(look)),
    ignore: browserPath === null,
    sanitizeOps: false,
    sanitizeResources: false,
  });
}
