/** The view of a seller's contacts, who answer for the products. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Client, Contact } from "../../client/mod.ts";
import { UnlessReadOnly } from "../ui/changing.tsx";
import {
  ConfirmedButton,
  ErrorNote,
  Form,
  HandbookLink,
  LocalTime,
  Title,
  useAction,
} from "../ui/components.tsx";
import { ListFoot, useRows } from "../ui/paging.tsx";
import { type Column, Table } from "../ui/table.tsx";

/** The texts in the form of a contact. */
type ContactTexts = Readonly<Record<ContactField, string>>;
type ContactField =
  | "name"
  | "company"
  | "street"
  | "postal_code"
  | "city"
  | "country"
  | "email"
  | "url";

const LABELS: Readonly<Record<ContactField, string>> = {
  name: "Name for your products",
  company: "Company",
  street: "Street and number",
  postal_code: "Postal code",
  city: "City",
  country: "Country (two capital letters)",
  email: "Email",
  url: "Website",
};
const FIELDS = Object.keys(LABELS) as ContactField[];

const EMPTY_TEXTS = Object.fromEntries(
  FIELDS.map((field) => [field, ""]),
) as ContactTexts;

const PAGE_SIZE = 100;

export function ContactsView({ client }: { client: Client }) {
  const [edited, setEdited] = useState<Contact | null>(null);
  const list = useRows<Contact>(async (after, signal) => {
    const { contacts, next } = await client.contacts.list(
      { after, limit: PAGE_SIZE },
      { signal },
    );
    return { rows: contacts, next };
  }, [client]);
  const onChanged = () => {
    setEdited(null);
    list.reload();
  };
  const columns: readonly Column<Contact>[] = [
    { label: "Name", classes: "break", cell: ({ name }) => name },
    { label: "Company", classes: "break", cell: ({ company }) => company },
    { label: "Address", classes: "break", cell: addressOf },
    {
      label: "Reached at",
      classes: "break",
      cell: ({ email, url }) => [email, url].filter(Boolean).join(", "),
    },
    {
      label: "Changed",
      cell: ({ updated_at }) => <LocalTime iso={updated_at} />,
    },
    {
      label: "Change",
      cell: (contact) => (
        <UnlessReadOnly>
          <ContactButtons
            client={client}
            contact={contact}
            onEdit={() => setEdited(contact)}
            onDeleted={onChanged}
          />
        </UnlessReadOnly>
      ),
    },
  ];
  return (
    <>
      <Title>Contacts</Title>
      <p class="quiet">
        Manufacturers and responsible persons in the EU. Products name them;
        {" "}
        <HandbookLink chapter="safety">what the law asks for</HandbookLink>.
      </p>
      {list.rows !== null && list.rows.length > 0 && (
        <Table
          label="Contacts"
          columns={columns}
          rows={list.rows}
          keyOf={({ name }) => name}
        />
      )}
      <ListFoot list={list} empty="There is no contact yet." />
      <UnlessReadOnly>
        <ContactForm
          key={edited?.name ?? ""}
          client={client}
          contact={edited}
          onSaved={onChanged}
          onCancel={() => setEdited(null)}
        />
      </UnlessReadOnly>
    </>
  );
}

function addressOf({ street, postal_code, city, country }: Contact): string {
  const place = [postal_code, city].filter(Boolean).join(" ");
  return `${street}, ${place}, ${country}`;
}

function ContactButtons({ client, contact, onEdit, onDeleted }: {
  client: Client;
  contact: Contact;
  onEdit: () => void;
  onDeleted: () => void;
}) {
  const { busy, error, run } = useAction();
  const { name } = contact;
  const remove = async () => {
    await client.contacts.delete({ name });
    onDeleted();
  };
  return (
    <>
      <button type="button" aria-label={`Edit ${name}`} onClick={onEdit}>
        Edit
      </button>{" "}
      <ConfirmedButton
        label="Delete"
        question="Delete this contact? Products that name it keep it."
        disabled={busy}
        onConfirm={() => run(remove)}
      />
      {error && <ErrorNote error={error} />}
    </>
  );
}

/** A form that adds or changes a contact. */
function ContactForm({ client, contact, onSaved, onCancel }: {
  client: Client;
  /** Null for a new contact. */
  contact: Contact | null;
  onSaved: () => void;
  onCancel: () => void;
}) {
  const { busy, error, run } = useAction();
  const company = useRef<HTMLInputElement>(null);
  // The focus scrolls to the form, which may be below a long list.
  useEffect(() => {
    if (contact !== null) company.current?.focus();
  }, [contact]);
  const [texts, setTexts] = useState<ContactTexts>(
    contact === null ? EMPTY_TEXTS : textsOf(contact),
  );
  const save = async () => {
    const { name, ...fields } = texts;
    await client.contacts.put({
      name: name.trim(),
      contact: {
        ...fields,
        postal_code: fields.postal_code || null,
        email: fields.email || null,
        url: fields.url || null,
      },
    });
    setTexts(EMPTY_TEXTS);
    onSaved();
  };
  return (
    <Form class="card" onSubmit={() => run(save)}>
      <h2>{contact === null ? "Add a contact" : `Change ${contact.name}`}</h2>
      <div class="pairs">
        {FIELDS.map((field) => (
          <div key={field} class="pair">
            <label for={`contact-${field}`}>{LABELS[field]}</label>
            <input
              id={`contact-${field}`}
              ref={field === "company" ? company : undefined}
              class="grow"
              autocomplete="off"
              value={texts[field]}
              maxLength={field === "country" ? 2 : undefined}
              readOnly={field === "name" && contact !== null}
              onInput={({ currentTarget: { value } }) =>
                setTexts((latest) => ({
                  ...latest,
                  [field]: field === "country" ? value.toUpperCase() : value,
                }))}
            />
          </div>
        ))}
      </div>
      <p class="row">
        <button type="submit" class="main" disabled={busy}>
          {contact === null ? "Add the contact" : "Save"}
        </button>
        {contact !== null && (
          <button type="button" onClick={onCancel}>Cancel</button>
        )}
        <span class="quiet">
          An email address or a website is needed. A change applies to all
          products that name the contact.
        </span>
      </p>
      {error && <ErrorNote error={error} />}
    </Form>
  );
}

function textsOf(contact: Contact): ContactTexts {
  return Object.fromEntries(
    FIELDS.map((field) => [field, contact[field] ?? ""]),
  ) as ContactTexts;
}
