// Where diagrams draw themselves: in chats in which one was asked for. For as long as the page is open.
import { SvelteSet } from "svelte/reactivity";

const chats = new SvelteSet<string>();

export function drawsDiagrams(chat: string | null): boolean {
  return chat !== null && chats.has(chat);
}

export function drawDiagrams(chat: string | null): void {
  if (chat !== null) chats.add(chat);
}
