// Checks on parsed JSON. Pure.

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses an event; null if it is not an object with one of the known types. Newer servers may send others. */
export function parseEvent<Event extends { readonly type: string }>(data: string, types: ReadonlySet<string>): Event | null {
  try {
    const event: unknown = JSON.parse(data);
    return isObject(event) && types.has(String(event["type"])) ? (event as unknown as Event) : null;
  } catch {
    return null;
  }
}
