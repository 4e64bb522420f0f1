// Moves the content of a message that was not sent, or not answered, back to where it was typed.
import { type Content, textOf } from "../../wire/chat/rows";
import type { Attachments } from "./attachments.svelte";
import type { Draft } from "./draft.svelte";

interface DraftAndFiles {
  readonly draft: Draft;
  readonly attachments: Attachments;
}

/** Restores content unless something else is being typed. Returns whether it did. */
export function restoreIfEmpty({ draft, attachments }: DraftAndFiles, content: readonly Content[]): boolean {
  if (draft.text !== "" || attachments.items.length > 0) return false;
  draft.text = textOf(content);
  attachments.restore(content);
  return true;
}

/** Puts content before the draft of a conversation, open or not. It exists nowhere else. */
export function restoreUnsent({ draft, attachments }: DraftAndFiles, conversation: string | null, content: readonly Content[]): void {
  attachments.restore(content, conversation);
  draft.prepend(conversation, textOf(content));
}

/** Clears the composer if it still holds exactly this content. */
export function removeRestored({ draft, attachments }: DraftAndFiles, content: readonly Content[]): void {
  if (draft.text !== textOf(content)) return;
  draft.text = "";
  attachments.take();
}
