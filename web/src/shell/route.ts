// The page's route, stored in the fragment of its address: "#/c/ID" is a conversation, "#/c/ID/MESSAGE" a message in
// it, "#/settings/SECTION", "#/models" and "#/admin" are screens, anything else a new conversation. Pure.

export const SCREENS = ["settings", "models", "admin"] as const;

export type Screen = "chat" | (typeof SCREENS)[number];

export interface Route {
  readonly screen: Screen;
  readonly conversation: string | null;
  readonly message: string | null;
  /** Section of a screen; empty for the first. */
  readonly section: string;
}

const CONVERSATION = /^#\/c\/([\w-]{1,64})(?:\/([\w-]{1,64}))?$/;
const SCREEN = /^#\/(settings|models|admin)(?:\/([\w-]{1,64}))?$/;

export function parseRoute(hash: string): Route {
  const [, screen = "chat", section = ""] = SCREEN.exec(hash) ?? [];
  const [, conversation = null, message = null] = CONVERSATION.exec(hash) ?? [];
  return { screen: screen as Screen, conversation, message, section };
}

export function chatAddress(conversation: string | null, message: string | null = null): string {
  if (conversation === null) return "#/";
  return `#/c/${conversation}${message === null ? "" : `/${message}`}`;
}

export function screenAddress(screen: Exclude<Screen, "chat">, section = ""): string {
  return `#/${screen}${section === "" ? "" : `/${section}`}`;
}
