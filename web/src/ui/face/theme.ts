// The theme in effect, for what is drawn on a canvas.
import type { Theme } from "../../voice/face/look";

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

export function currentTheme(): Theme {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === "dark" || (chosen !== "light" && systemIsDark.matches) ? "dark" : "light";
}
