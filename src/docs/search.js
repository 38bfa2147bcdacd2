// The search of the handbook: looks for all words in every section. It asks
// nobody but the service, which sends the text when the field is first used.
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

function pointsOf({ chapter, section, text }, words) {
  let points = 0;
  for (const word of words) {
    const places = [section, chapter, text].map((part) =>
      part.toLowerCase().includes(word)
    );
    if (!places.includes(true)) return 0;
    points += 10 * places[0] + 3 * places[1] + places[2];
  }
  return points;
}

function excerptOf({ text }, words) {
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - AROUND);
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
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? [] : (await load())
    .map((entry) => ({ entry, points: pointsOf(entry, words) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points);
  if (field.value !== text) return;
  list.replaceChildren(
    ...found.slice(0, SHOWN).map(({ entry }) => itemOf(entry, words)),
  );
  status.textContent = words.length === 0 ? "" : `${found.length} found`;
}

form.hidden = false;
field.addEventListener("focus", load, { once: true });
field.addEventListener("input", search);
form.addEventListener("submit", (event) => event.preventDefault());
