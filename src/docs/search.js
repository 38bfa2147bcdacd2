// The search of the handbook: finds the sections with the most of the words. It
// asks nobody but the service, which sends the text when the field is first used.
const form = document.getElementById("search");
const field = form.querySelector("input");
const status = form.querySelector("[role=status]");
const list = form.querySelector("ul");
const SHOWN = 12;
const AROUND = 60;
let entries;

function load() {
  entries ??= fetch("/docs/search.json").then((answer) => answer.json());
  return entries;
}

/** Lower case, without the s of a plural: "prices" also finds "price". */
function wordsIn(query) {
  return query.toLowerCase().split(/\s+/).filter(Boolean)
    .map((word) =>
      word.length > 3 && word.endsWith("s") ? word.slice(0, -1) : word
    );
}

/** How many of the words a section has, and how prominently. */
function matchOf(entry, words) {
  let [has, points] = [0, 0];
  for (const word of words) {
    const places = [entry.section, entry.chapter, entry.text].map((part) =>
      part.toLowerCase().includes(word)
    );
    if (places.includes(true)) has++;
    points += 10 * places[0] + 3 * places[1] + places[2];
  }
  return { entry, has, points };
}

function excerptOf({ text }, words) {
  const lower = text.toLowerCase();
  const word = words.find((word) => lower.includes(word)) ?? words[0];
  const at = Math.max(0, lower.indexOf(word) - AROUND);
  return (at > 0 ? "… " : "") + text.slice(at, at + 2 * AROUND) + " …";
}

function itemOf(entry, words) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = entry.path;
  link.textContent = [entry.chapter, entry.section].filter(Boolean).join(": ");
  const excerpt = document.createElement("div");
  excerpt.textContent = excerptOf(entry, words);
  item.append(link, excerpt);
  return item;
}

async function search() {
  const text = field.value;
  const words = wordsIn(text);
  const matches = words.length === 0 ? [] : (await load())
    .map((entry) => matchOf(entry, words))
    .filter(({ has }) => has > 0)
    .sort((a, b) => b.has - a.has || b.points - a.points);
  if (field.value !== text) return;
  const most = matches[0]?.has;
  const found = matches.filter(({ has }) => has === most);
  list.replaceChildren(
    ...found.slice(0, SHOWN).map(({ entry }) => itemOf(entry, words)),
  );
  const part = most < words.length
    ? ` with ${most} of ${words.length} words`
    : "";
  status.textContent = words.length === 0 ? "" : `${found.length} found${part}`;
}

form.hidden = false;
field.addEventListener("focus", load, { once: true });
field.addEventListener("input", search);
form.addEventListener("submit", (event) => event.preventDefault());
