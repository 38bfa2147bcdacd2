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
  const [isKeyShown, setKeyShown] = useState(false);
  const { busy, error, run } = useAction();
  const openedUpload = useStore(upload);
  return (
    <div class="card sign-in">
      <Title>Sign in</Title>
      {notice && <p class="note warn" role="alert">{notice}</p>}
      {openedUpload && (
        <p class="note">
          <strong>{openedUpload.fileName}</strong>{" "}
          is open. It stays open when you sign in.
        </p>
      )}
      <Form
        onSubmit={() => run(() => checkAndSignIn(key.trim()))}
      >
        <label for="key">API key</label>
        <div class="row">
          <input
            id="key"
            class="grow mono"
            type={(isKeyShown ? "text" : "password") as "text"}
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
            aria-pressed={isKeyShown}
            onClick={() => setKeyShown(!isKeyShown)}
          >
            Show
          </button>
          <button type="submit" class="main" disabled={busy}>
            {busy ? "Checking…" : "Sign in"}
          </button>
        </div>
        <p id="key-hint" class="quiet">
          The key of a seller or of an operator. This tab stores the key until
          you close the tab or sign out.
        </p>
      </Form>
      {error && <ErrorNote error={error} message={messageOf(error)} />}
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

/**
 * The message about a refused key. The service's own message names a header,
 * which users of the page do not know.
 */
function messageOf(error: Error): string | undefined {
  if (!(error instanceof ApiError) || error.status !== 401) return undefined;
  return "This key is not valid: it is mistyped, expired or revoked, or it " +
    "does not allow your network.";
}

/** Signs in; refuses a key that an HTTP header cannot contain. */
async function checkAndSignIn(key: string): Promise<void> {
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new Error(
      "A key has letters, digits and symbols, but no spaces. Copy the whole key again.",
    );
  }
  await signIn(key);
}
