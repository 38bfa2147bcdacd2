/** Starts the page. */
import { render } from "preact";
import { App } from "./app.tsx";
import { sandbox } from "./sandbox.ts";
import { session, signIn } from "./session.ts";
import { applyTheme } from "./theme.tsx";

applyTheme();
if (sandbox !== null && session.value.role === null) {
  // If this fails, the page starts signed out.
  await signIn(sandbox.sellerKey).catch(() => {});
}
render(<App />, document.getElementById("page")!);
