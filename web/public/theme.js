// Runs before the first paint, so that a chosen theme never flashes the other one. The page's own code
// (settings/preferences.svelte.ts) writes this key and keeps the attribute in step afterwards.
try {
  const { theme } = JSON.parse(localStorage.getItem("duologue.preferences") || "{}");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be closed to us; the system's theme is a good answer then.
}
