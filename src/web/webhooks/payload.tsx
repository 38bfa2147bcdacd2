/** The request of a delivery: the body, a signature and a curl command. */
import { useState } from "preact/hooks";
import {
  type Client,
  type LoggedDelivery,
  signWebhook,
  type Trigger,
} from "../../client/mod.ts";
import { curlCommand } from "./curl.ts";
import { loadEvent, testEventBody, type WebhookFormat } from "./events.ts";
import {
  ErrorNote,
  Form,
  useAction,
  useLoaded,
  WhenLoaded,
} from "../ui/components.tsx";

/** A toggle that shows the payload of a delivery. */
export function DeliveryPayload({ client, trigger, delivery }: {
  client: Client;
  trigger: Trigger;
  delivery: LoggedDelivery;
}) {
  const [open, setOpen] = useState(false);
  return (
    <details
      class="facts"
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>Payload and signature</summary>
      {open && (
        <OpenedPayload client={client} trigger={trigger} delivery={delivery} />
      )}
    </details>
  );
}

function OpenedPayload({ client, trigger, delivery }: {
  client: Client;
  trigger: Trigger;
  delivery: LoggedDelivery;
}) {
  const { event_id: id, created_at } = delivery;
  const loaded = useLoaded(
    async (signal) => {
      const format = await formatOf(client, trigger, signal);
      const event = await loadEvent(client, id, format, signal);
      return { event, format };
    },
    [client, id],
  );
  return (
    <WhenLoaded loaded={loaded}>
      {({ event, format }) => {
        const isTest = event === null;
        const body = event ??
          testEventBody({ id, trigger, created_at }, format);
        return (
          <div class="problems">
            {isTest && (
              <p>
                <span class="state plain">test</span>{" "}
                This event is not stored: it is a test event, or it was deleted
                because of its age.
              </p>
            )}
            <pre class="source code" tabIndex={0}>{body}</pre>
            <Signature delivery={delivery} body={body} format={format} />
          </div>
        );
      }}
    </WhenLoaded>
  );
}

/** The current format of a webhook. */
async function formatOf(
  client: Client,
  trigger: Trigger,
  signal: AbortSignal,
): Promise<WebhookFormat> {
  const { webhook } = await client.webhooks.list({ signal });
  return webhook.find((one) => one.trigger === trigger)?.format ?? "xml";
}

/**
 * Signs the body with a secret that the seller types, because the page does not
 * know the secret.
 */
function Signature({ delivery, body, format }: {
  delivery: LoggedDelivery;
  body: string;
  format: WebhookFormat;
}) {
  const { attempts, event_id } = delivery;
  const last = attempts.at(-1);
  const [secret, setSecret] = useState("");
  const [headers, setHeaders] = useState<Record<string, string>>({});
  const [copied, setCopied] = useState(false);
  const { error, run } = useAction();
  const sign = async () => {
    const startedAt = Date.parse(last?.started_at ?? delivery.created_at);
    const seconds = Math.floor(startedAt / 1_000);
    setHeaders(await signWebhook(secret, event_id, seconds, body));
  };
  const curl = curlCommand(
    last?.url ?? "https://…",
    { "webhook-id": event_id, ...headers },
    body,
    format,
  );
  return (
    <>
      <Form
        class="row"
        onSubmit={() => run(sign)}
      >
        <label for={`secret-${delivery.id}`}>
          Secret, to sign it; it stays in this page
        </label>
        <input
          id={`secret-${delivery.id}`}
          class="grow mono"
          type="password"
          placeholder="whsec_"
          autocomplete="off"
          required
          value={secret}
          onInput={(event) => setSecret(event.currentTarget.value)}
        />
        <button type="submit">Sign</button>
        <button
          type="button"
          onClick={() =>
            run(async () => {
              await navigator.clipboard.writeText(curl);
              setCopied(true);
            })}
        >
          Copy as curl
        </button>
        <span role="status">{copied ? "Copied." : ""}</span>
      </Form>
      {Object.entries(headers).map(([name, value]) => (
        <p key={name} class="mono break">{name}: {value}</p>
      ))}
      {error && (
        <ErrorNote
          error={error}
          message="The signature failed: a secret begins with whsec_, and the browser signs only on https pages."
        />
      )}
    </>
  );
}
