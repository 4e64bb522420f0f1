// What a conversation on the page needs of everything around it, and what it does to the desk beside it: what had no
// answer or did not arrive goes back to where it was typed, and is taken from there when it is asked again.
import type { Clock } from "../wire/transport/clock";
import type { ConversationClient, RunOptions } from "../wire/conversations";
import type { EventStream, StreamListener } from "../wire/transport/event_stream";
import { type Content, type Conversation, textOf } from "../wire/rows";
import type { Announcer } from "./announce/announcer.svelte";
import type { Attachments } from "./draft/attachments.svelte";
import type { Choices } from "./choices.svelte";
import type { Draft } from "./draft/draft.svelte";
import type { Notices } from "./announce/notices.svelte";

export interface ChatDependencies {
  readonly client: ConversationClient;
  readonly stream: (address: string, listener: StreamListener) => EventStream;
  readonly clock: Clock;
  readonly draft: Draft;
  readonly attachments: Attachments;
  readonly announcer: Announcer;
  readonly notices: Notices;
  readonly choices: Choices;
  /** Who answers, and how it is asked, at this moment. */
  readonly options: () => RunOptions & { readonly speaker: string };
  /** The system prompt of a conversation that begins. */
  readonly systemPrompt: () => string;
  /** A command failed: the server may have changed its state. */
  readonly onFailure: () => void;
  /** How a conversation that was begun or opened stands as a whole. */
  readonly onLoaded: (conversation: Conversation) => void;
  /** Make this the page's address; null is a new conversation. `stays`: whoever is on another screen is left there. */
  readonly navigate: (conversation: string | null, stays?: boolean) => void;
}

type DraftAndFiles = Pick<ChatDependencies, "draft" | "attachments">;

/** Unless something else is being typed there: whether it is there now. */
export function restoreIfEmpty({ draft, attachments }: DraftAndFiles, content: readonly Content[]): boolean {
  if (draft.text !== "" || attachments.items.length > 0) return false;
  draft.text = textOf(content);
  attachments.restore(content);
  return true;
}

/** Before what is being typed in a conversation, whichever one is looked at: it is nowhere else. */
export function restoreUnsent({ draft, attachments }: DraftAndFiles, conversation: string | null, content: readonly Content[]): void {
  attachments.restore(content, conversation);
  draft.prepend(conversation, textOf(content));
}

export function removeRestored({ draft, attachments }: DraftAndFiles, content: readonly Content[]): void {
  if (draft.text !== textOf(content)) return;
  draft.text = "";
  attachments.take();
}
