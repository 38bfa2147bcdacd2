/** A service and a tab, with which most tests of the page begin. */
import type { Page } from "playwright-core";
import { boot, type BootOptions, type TestApp } from "../support/app.ts";
import type { AccountKind } from "../../src/web/state/session.ts";
import { browserTest, type OpenTab, type Tab } from "./browser.ts";
import { signIn } from "./page.ts";

export interface OpenedPage {
  app: TestApp;
  tab: Tab;
  page: Page;
  /** Opens a further tab. */
  openTab: OpenTab;
  /** Opens the page as the seller, unless another role is given. */
  signIn(role?: AccountKind): Promise<void>;
}

/**
 * Returns a function that registers a test with a service of its own and a tab;
 * `prefix` begins the names of the tests.
 */
export function pageTests(
  prefix: string,
  options: BootOptions,
): (name: string, fn: (opened: OpenedPage) => Promise<void>) => void {
  return (name, fn) =>
    browserTest(`${prefix}: ${name}`, async (openTab) => {
      await using app = await boot(options);
      await using tab = await openTab();
      const { page } = tab;
      await fn({
        app,
        tab,
        page,
        openTab,
        signIn: (role = "seller") =>
          signIn(
            tab,
            app.url,
            role === "seller" ? app.key : app.config.operatorKey!,
            role,
          ),
      });
    });
}
