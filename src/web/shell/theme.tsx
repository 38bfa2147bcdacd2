/** The theme: light, dark, or the system's. */
import { inBrowser } from "../lib/browser.ts";
import { Store, useStore } from "../lib/store.ts";

type Theme = "system" | "light" | "dark";

const NEXT: Readonly<Record<Theme, Theme>> = {
  system: "light",
  light: "dark",
  dark: "system",
};
const SIGNS: Readonly<Record<Theme, string>> = {
  system: "◐",
  light: "☀",
  dark: "☾",
};

const storedTheme = inBrowser("theme");
const theme = new Store<Theme>(themeOf(storedTheme.get()));

/** Applies the chosen theme, now and after each change. */
export function applyTheme(): void {
  const apply = () => document.documentElement.dataset.theme = theme.value;
  theme.listen(apply);
  apply();
}

export function ThemeButton() {
  const current = useStore(theme);
  const choose = () => {
    const next = NEXT[current];
    storedTheme.set(next === "system" ? null : next);
    theme.set(next);
  };
  return (
    <button
      type="button"
      class="ghost"
      title={`Colours: ${current}. Change to ${NEXT[current]}.`}
      aria-label={`Colours: ${current}. Change to ${NEXT[current]}.`}
      onClick={choose}
    >
      {SIGNS[current]}
    </button>
  );
}

function themeOf(text: string | null): Theme {
  return text === "light" || text === "dark" ? text : "system";
}
