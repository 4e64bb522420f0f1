// Runs before the first paint, so that neither the theme nor the text size flickers. The page's own code
// (settings/preferences.svelte.ts) writes this key and updates the attributes afterwards.
try {
  const { page, theme = page?.theme } = JSON.parse(localStorage.getItem("duologue.preferences") || "{}");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  if (page?.text_size) document.documentElement.dataset.text = page.text_size;
  if (page?.reading_width) document.documentElement.dataset.reading = page.reading_width;
} catch {
  // Storage may be blocked; the system's theme is a good default then.
}
