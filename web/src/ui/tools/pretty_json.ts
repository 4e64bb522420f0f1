// Text as it is laid out to be read. Pure.

/** JSON with a line for each of its parts; anything else as it is. */
export function prettyJson(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Still being written, or not JSON at all.
    return text;
  }
}
