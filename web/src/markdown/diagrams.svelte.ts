// The chats in which the user has asked for diagrams to be drawn, as long as the page is open.
import { SvelteSet } from "svelte/reactivity";

const chats = new SvelteSet<string>();

export function diagramsEnabled(chat: string | null): boolean {
  return chat !== null && chats.has(chat);
}

export function enableDiagrams(chat: string | null): void {
  if (chat !== null) chats.add(chat);
}
