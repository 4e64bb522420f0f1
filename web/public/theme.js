// Runs before the first paint, so that a chosen theme never flashes the other one and no text changes its size. The
// page's own code (settings/preferences.svelte.ts) writes this key and keeps the attributes in step afterwards.
try {
  const { page, theme = page?.theme } = JSON.parse(localStorage.getItem("duologue.preferences") || "{}");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  if (page?.text_size) document.documentElement.dataset.text = page.text_size;
  if (page?.reading_width) document.documentElement.dataset.reading = page.reading_width;
} catch {
  // Storage may be closed to us; the system's theme is a good answer then.
}
