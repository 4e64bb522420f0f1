// The page's route, stored in the fragment of its address: "#/c/ID" is a conversation, "#/c/ID/MESSAGE" a message in
// it, "#/settings/SECTION", "#/models", "#/admin" and "#/help?q=QUESTION" are screens, anything else a new conversation. Pure.

export const SCREENS = ["settings", "models", "admin", "help"] as const;

export type Screen = "chat" | (typeof SCREENS)[number];

export interface Route {
  readonly screen: Screen;
  readonly conversation: string | null;
  readonly message: string | null;
  /** Section of a screen; empty for the first. */
  readonly section: string;
  /** What the help was asked. */
  readonly query: string;
}

const CONVERSATION = /^#\/c\/([\w-]{1,64})(?:\/([\w-]{1,64}))?$/;
const SCREEN = /^#\/(settings|models|admin|help)(?:\/([\w-]{1,64}))?(?:\?q=(.*))?$/;

export function parseRoute(hash: string): Route {
  const [, screen = "chat", section = "", query = ""] = SCREEN.exec(hash) ?? [];
  const [, conversation = null, message = null] = CONVERSATION.exec(hash) ?? [];
  return { screen: screen as Screen, conversation, message, section, query: decoded(query) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

export function chatAddress(conversation: string | null, message: string | null = null): string {
  if (conversation === null) return "#/";
  return `#/c/${conversation}${message === null ? "" : `/${message}`}`;
}

export function screenAddress(screen: Exclude<Screen, "chat">, section = ""): string {
  return `#/${screen}${section === "" ? "" : `/${section}`}`;
}

export function helpAddress(question: string): string {
  return question.trim() === "" ? "#/help" : `#/help?q=${encodeURIComponent(question.trim())}`;
}
