/** Downloads a template for one category, with lists of the allowed values. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Client } from "../../client/mod.ts";
import { saveFile } from "../lib/browser.ts";
import { fetchCategory } from "../lib/categories.ts";
import { contactNames } from "../ui/contact_choice.tsx";
import { CategorySuggestions } from "../ui/category_names.tsx";
import { ErrorNote, Form, useAction } from "../ui/components.tsx";
import { templateColumns } from "./columns/category_columns.ts";
import { writeBook } from "./read/workbook/ask.ts";

export function CategoryTemplate({ client }: { client: Client }) {
  const [name, setName] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const { busy, error, run } = useAction();
  useEffect(() => input.current?.focus(), []);
  const save = async () => {
    const wanted = name.trim();
    const category = await fetchCategory(client, wanted);
    if (category === null) {
      throw new Error(
        `The marketplace's list has no category ${wanted}. Choose one of the ` +
          "list, or download the template for any product.",
      );
    }
    const columns = templateColumns(category, await contactNames(client));
    saveFile(await writeBook({ name: "template", columns }), fileName(wanted));
  };
  return (
    <Form class="card" onSubmit={() => run(save)}>
      <label for="template-category">Category</label>
      <div class="row">
        <input
          id="template-category"
          ref={input}
          class="grow"
          required
          list="template-categories"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button type="submit" class="main" disabled={busy}>
          Download
        </button>
      </div>
      <p class="quiet">
        An Excel file with the columns that products of this category need, and
        lists of the values that the marketplace allows.
      </p>
      <CategorySuggestions
        client={client}
        id="template-categories"
        text={name}
      />
      {error && <ErrorNote error={error} />}
    </Form>
  );
}

/** The name of the file: `products-Home-Mugs.xlsx` for `Home/Mugs`. */
function fileName(category: string): string {
  return `products-${category.replace(/[^\p{L}\p{N}]+/gu, "-")}.xlsx`;
}
