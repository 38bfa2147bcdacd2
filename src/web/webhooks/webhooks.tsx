/** The view of a seller's webhooks, with actions that change and test them. */
import { useState } from "preact/hooks";
import { UnlessReadOnly } from "../ui/changing.tsx";
import type { Client, Trigger, Webhook } from "../../client/mod.ts";
import { TRIGGERS } from "../../webhooks/trigger.ts";
import {
  Announcer,
  ConfirmedButton,
  ErrorNote,
  Form,
  HandbookLink,
  LocalTime,
  NewSecrets,
  State,
  Title,
  useAction,
  useLoaded,
  WhenLoaded,
} from "../ui/components.tsx";
import { describeTrigger, loadTriggers, type WebhookFormat } from "./events.ts";
import { goTo, linkTo } from "../state/route.ts";
import { Table } from "../ui/table.tsx";

export function WebhooksView({ client }: { client: Client }) {
  const loaded = useLoaded(
    async (signal) => (await client.webhooks.list({ signal })).webhook,
    [client],
  );
  const [announcement, setAnnouncement] = useState("");
  const announceChange = (text: string) => {
    setAnnouncement(text);
    loaded.reload();
  };
  return (
    <>
      <Title>Webhooks</Title>
      <Announcer text={announcement} />
      <WhenLoaded loaded={loaded}>
        {(webhooks) => (
          <>
            <WebhookTable
              client={client}
              webhooks={webhooks}
              onChanged={announceChange}
            />
            <UnlessReadOnly>
              <WebhookForm
                client={client}
                usedTriggers={webhooks.map(({ trigger }) => trigger)}
                onChanged={announceChange}
              />
            </UnlessReadOnly>
          </>
        )}
      </WhenLoaded>
    </>
  );
}

interface WebhookProps {
  client: Client;
  onChanged: (text: string) => void;
}

function WebhookTable({ client, webhooks, onChanged }: WebhookProps & {
  webhooks: readonly Webhook[];
}) {
  if (webhooks.length === 0) {
    return (
      <p class="quiet">
        There are no webhooks yet. With a webhook, the marketplace sends each
        event of a trigger to your address.
      </p>
    );
  }
  return (
    <Table
      label="Webhooks"
      rows={webhooks}
      keyOf={({ trigger }) => trigger}
      columns={[
        {
          label: "Trigger",
          classes: "mono",
          cell: ({ trigger }) => (
            <a href={linkTo("webhooks", trigger)}>{trigger}</a>
          ),
        },
        {
          label: "Address",
          classes: "mono break",
          cell: ({ url, format }) => format === "json" ? `${url} (JSON)` : url,
        },
        {
          label: "State",
          cell: (webhook) => <WebhookState webhook={webhook} />,
        },
        {
          label: "Actions",
          classes: "bare",
          right: true,
          cell: (webhook) => (
            <UnlessReadOnly>
              <WebhookActions
                client={client}
                webhook={webhook}
                onChanged={onChanged}
              />
            </UnlessReadOnly>
          ),
        },
      ]}
    />
  );
}

function WebhookState({ webhook }: { webhook: Webhook }) {
  const { disabled_at, failing_since, last_error } = webhook;
  const since = disabled_at ?? failing_since;
  if (since === undefined) return <State state="active" />;
  return (
    <>
      <State state={disabled_at === undefined ? "failing" : "disabled"} />{" "}
      <span class="quiet">
        since <LocalTime iso={since} />. {last_error}
        {disabled_at !== undefined && " Register it again to enable it."}
      </span>
    </>
  );
}

function WebhookActions({ client, webhook, onChanged }: WebhookProps & {
  webhook: Webhook;
}) {
  const { trigger } = webhook;
  const { busy, error, run } = useAction();
  const [secret, setSecret] = useState<string | null>(null);
  const test = async () => {
    await client.webhooks.test({ trigger });
    goTo("webhooks", trigger);
  };
  const rotate = async () => {
    const { webhook_secret } = await client.webhooks.rotateSecret({ trigger });
    setSecret(webhook_secret);
  };
  const remove = async () => {
    await client.webhooks.delete({ trigger });
    onChanged(`The webhook ${trigger} is removed.`);
  };
  return (
    <>
      <span class="row end">
        <button
          type="button"
          aria-label={`Test ${trigger}`}
          disabled={busy}
          onClick={() => run(test)}
        >
          Test
        </button>
        <ConfirmedButton
          label="New secret"
          question={`Give ${trigger} a new secret?`}
          disabled={busy}
          onConfirm={() => run(rotate)}
        />
        <ConfirmedButton
          label="Remove"
          question={`Remove ${trigger}?`}
          disabled={busy}
          onConfirm={() => run(remove)}
        />
      </span>
      {secret !== null && (
        <NewSecrets
          title={`The new secret of ${trigger}. The former secret also signs for 24 hours.`}
          secrets={{ "Webhook secret": secret }}
          onSeen={() => setSecret(null)}
        />
      )}
      {error && <ErrorNote error={error} />}
    </>
  );
}

function WebhookForm({ client, usedTriggers, onChanged }: WebhookProps & {
  usedTriggers: readonly string[];
}) {
  const [trigger, setTrigger] = useState<Trigger>(TRIGGERS[0]);
  const [url, setUrl] = useState("");
  const [format, setFormat] = useState<WebhookFormat>("xml");
  const [isOpen, setOpen] = useState(false);
  const { busy, error, run } = useAction();
  const add = async () => {
    await client.webhooks.create({
      webhook: { trigger, url: url.trim(), format },
    });
    setUrl("");
    onChanged(`The webhook ${trigger} is registered.`);
  };
  return (
    <Form
      class="card"
      onSubmit={() => run(add)}
    >
      <h2>Register a webhook</h2>
      <div class="row">
        <span class="field">
          <label for="trigger">Trigger</label>
          <select
            id="trigger"
            value={trigger}
            onChange={(event) =>
              setTrigger(event.currentTarget.value as Trigger)}
          >
            {TRIGGERS.map((name) => (
              <option key={name} value={name}>{name}</option>
            ))}
          </select>
        </span>
        <span class="field grow">
          <label for="url">Address</label>
          <input
            id="url"
            type="url"
            class="grow mono"
            required
            placeholder="https://"
            value={url}
            onInput={(event) => setUrl(event.currentTarget.value)}
          />
        </span>
        <span class="field">
          <label for="format">Format</label>
          <select
            id="format"
            value={format}
            onChange={(event) =>
              setFormat(event.currentTarget.value as WebhookFormat)}
          >
            <option value="xml">XML</option>
            <option value="json">JSON</option>
          </select>
        </span>
        <button type="submit" class="main" disabled={busy}>
          {usedTriggers.includes(trigger) ? "Replace" : "Register"}
        </button>
      </div>
      {usedTriggers.includes(trigger) && (
        <p class="quiet">
          {trigger} has a webhook already. “Replace” replaces it.
        </p>
      )}
      <details
        class="facts"
        onToggle={(event) => setOpen(event.currentTarget.open)}
      >
        <summary>What {trigger} sends</summary>
        {isOpen && (
          <TriggerMeaning
            client={client}
            trigger={trigger}
            format={format}
          />
        )}
        <p>
          <HandbookLink chapter="webhooks">
            How to verify and answer a delivery
          </HandbookLink>
        </p>
      </details>
      {error && <ErrorNote error={error} />}
    </Form>
  );
}

function TriggerMeaning({ client, trigger, format }: {
  client: Client;
  trigger: Trigger;
  format: WebhookFormat;
}) {
  const loaded = useLoaded(
    (signal) => loadTriggers(client, signal),
    [client],
  );
  return (
    <WhenLoaded loaded={loaded}>
      {(loadedTriggers) => {
        const { about, event } = describeTrigger(
          loadedTriggers,
          trigger,
          format,
        );
        return (
          <>
            <p class="break">{about}</p>
            <pre class="source code" tabIndex={0}>{event}</pre>
          </>
        );
      }}
    </WhenLoaded>
  );
}
