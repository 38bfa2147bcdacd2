/** The form to sign in with a key. */
import { useState } from "preact/hooks";
import { ApiError } from "../../client/mod.ts";
import { ErrorNote, Form, Title, useAction } from "../ui/components.tsx";
import { sandbox } from "../state/sandbox.ts";
import { signIn } from "../state/session.ts";
import { useStore } from "../lib/store.ts";
import { upload } from "../import/send/upload_state.ts";

export function SignInView({ notice }: { notice: string | null }) {
  const [key, setKey] = useState("");
  const [shown, setShown] = useState(false);
  const { busy, error, run } = useAction();
  const openedUpload = useStore(upload);
  return (
    <div class="card sign-in">
      <Title>Sign in</Title>
      {notice && <p class="note warn" role="alert">{notice}</p>}
      {openedUpload && (
        <p class="note">
          <strong>{openedUpload.fileName}</strong>{" "}
          is kept and will be there after you have signed in.
        </p>
      )}
      <Form
        onSubmit={() => run(() => enter(key.trim()))}
      >
        <label for="key">API key</label>
        <div class="row">
          <input
            id="key"
            class="grow mono"
            type={(shown ? "text" : "password") as "text"}
            value={key}
            required
            autocomplete="current-password"
            autocapitalize="off"
            spellcheck={false}
            aria-describedby="key-hint"
            onInput={(event) => setKey(event.currentTarget.value)}
          />
          <button
            type="button"
            aria-pressed={shown}
            onClick={() => setShown(!shown)}
          >
            Show
          </button>
          <button type="submit" class="main" disabled={busy}>
            {busy ? "Checking…" : "Sign in"}
          </button>
        </div>
        <p id="key-hint" class="quiet">
          A seller’s key or the operator’s. This tab keeps the key until you
          close the tab or sign out.
        </p>
      </Form>
      {error && <ErrorNote error={error} lead={leadOf(error)} />}
      {sandbox && (
        <div class="row">
          <span>Sandbox:</span>
          <button
            type="button"
            onClick={() => run(() => signIn(sandbox!.sellerKey))}
          >
            Demo seller
          </button>
          <button
            type="button"
            onClick={() => run(() => signIn(sandbox!.operatorKey))}
          >
            Operator
          </button>
        </div>
      )}
    </div>
  );
}

/** Replaces the service's message about the key, which names a header. */
function leadOf(error: Error): string | undefined {
  if (!(error instanceof ApiError) || error.status !== 401) return undefined;
  return "This key is unknown: it is mistyped, or it was revoked.";
}

/** Signs in; refuses a text that cannot be a header's value. */
async function enter(key: string): Promise<void> {
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new Error(
      "A key has letters, digits and symbols, but no spaces. Copy the whole key again.",
    );
  }
  await signIn(key);
}
