/** A real browser that looks at the page, where the machine has one. */
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Page,
} from "playwright-core";

const NAMES = [
  "chromium",
  "chromium-browser",
  "google-chrome-stable",
  "google-chrome",
];

/** Path of a browser; null where there is none. */
export const browserPath: string | null = findBrowser();

function findBrowser(): string | null {
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  for (const name of NAMES) {
    for (const folder of folders) {
      const path = `${folder}/${name}`;
      try {
        if (folder !== "" && Deno.statSync(path).isFile) return path;
      } catch {
        // Not there.
      }
    }
  }
  return null;
}

/** Starts the browser; it knows no host but those of the test. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath!,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--disable-dev-shm-usage",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

export interface Look {
  colorScheme?: "light" | "dark";
  /** Pixels. */
  width?: number;
}

/** A tab of its own, with what went wrong in it. */
export class Tab implements AsyncDisposable {
  readonly page: Page;
  /** Uncaught errors, and complaints of the Content-Security-Policy. */
  readonly faults: string[];
  readonly #context: BrowserContext;

  constructor(page: Page, faults: string[], context: BrowserContext) {
    this.page = page;
    this.faults = faults;
    this.#context = context;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
  }
}

/** Opens a tab that shares nothing with any other. */
export async function openTab(
  browser: Browser,
  { colorScheme = "light", width = 1280 }: Look = {},
): Promise<Tab> {
  const context = await browser.newContext({
    colorScheme,
    viewport: { width, height: 800 },
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    const text = message.text();
    if (/content security policy|trusted/i.test(text)) faults.push(text);
  });
  return new Tab(page, faults, context);
}
