/** Starts the page. */
import { render } from "preact";
import { App } from "./shell/app.tsx";
import { sandbox } from "./state/sandbox.ts";
import { session, signIn } from "./state/session.ts";
import { applyTheme } from "./shell/theme.tsx";

applyTheme();
if (sandbox !== null && session.value.role === null) {
  // If this fails, the page starts signed out.
  await signIn(sandbox.sellerKey).catch(() => {});
}
render(<App />, document.getElementById("page")!);
