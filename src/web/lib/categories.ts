/** Requests categories of the marketplace's list. */
import { ApiError, type Category, type Client } from "../../client/mod.ts";

/** The category of this name; null if the list does not contain the name. */
export async function fetchCategory(
  client: Client,
  category: string,
  signal?: AbortSignal,
): Promise<Category | null> {
  try {
    return (await client.categories.get({ category }, { signal })).category;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** Whether the marketplace has a list of categories. */
export async function hasCategories(
  client: Client,
  signal: AbortSignal,
): Promise<boolean> {
  const { categories: { category = [] } } = await client
    .categories.list({ limit: 1 }, { signal });
  return category.length > 0;
}

/** The categories of these names; names outside the list are left out. */
export async function fetchCategories(
  client: Client,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Category[]> {
  const found = names.map((name) => fetchCategory(client, name, signal));
  return (await Promise.all(found)).filter((one) => one !== null);
}
