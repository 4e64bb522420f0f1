// Formats JSON for display. Pure.

/** Indented JSON; other text unchanged. */
export function prettyJson(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Incomplete, or not JSON.
    return text;
  }
}
