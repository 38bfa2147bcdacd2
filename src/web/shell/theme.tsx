/** The colour theme of the page: light, dark, or that of the system. */
import { storedInBrowser } from "../lib/browser.ts";
import { Store, useStore } from "../lib/store.ts";

type Theme = "system" | "light" | "dark";

const NEXT_THEME: Readonly<Record<Theme, Theme>> = {
  system: "light",
  light: "dark",
  dark: "system",
};
const ICONS: Readonly<Record<Theme, string>> = {
  system: "◐",
  light: "☀",
  dark: "☾",
};

const storedTheme = storedInBrowser("theme");
const theme = new Store<Theme>(parseTheme(storedTheme.get()));

/** Applies the chosen theme, now and after each change. */
export function applyTheme(): void {
  const apply = () => document.documentElement.dataset.theme = theme.value;
  theme.listen(apply);
  apply();
}

export function ThemeButton() {
  const current = useStore(theme);
  const choose = () => {
    const next = NEXT_THEME[current];
    storedTheme.set(next === "system" ? null : next);
    theme.set(next);
  };
  return (
    <button
      type="button"
      class="ghost"
      title={`Colours: ${current}. Change to ${NEXT_THEME[current]}.`}
      aria-label={`Colours: ${current}. Change to ${NEXT_THEME[current]}.`}
      onClick={choose}
    >
      {ICONS[current]}
    </button>
  );
}

function parseTheme(text: string | null): Theme {
  return text === "light" || text === "dark" ? text : "system";
}
