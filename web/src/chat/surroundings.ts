// What a conversation on the page needs of everything around it, and two things it does to the desk beside it: what
// had no answer goes back to where it was typed, and is taken from there when it is asked again.
import type { Clock } from "../wire/clock";
import type { ConversationClient, RunOptions } from "../wire/conversations";
import type { EventStream, StreamListener } from "../wire/event_source";
import { type Content, textOf } from "../wire/rows";
import type { Announcer } from "./announcer.svelte";
import type { Attachments } from "./attachments.svelte";
import type { Draft } from "./draft.svelte";
import type { Notices } from "./notices.svelte";

export interface Surroundings {
  readonly client: ConversationClient;
  readonly stream: (address: string, listener: StreamListener) => EventStream;
  readonly clock: Clock;
  readonly draft: Draft;
  readonly attachments: Attachments;
  readonly announcer: Announcer;
  readonly notices: Notices;
  /** Who answers, and how it is asked, at this moment. */
  readonly options: () => RunOptions & { readonly speaker: string };
  /** A command failed: the server may have changed its state. */
  readonly trouble: () => void;
  /** Make this the page's address; null is a new conversation. */
  readonly go: (conversation: string | null) => void;
}

type Desk = Pick<Surroundings, "draft" | "attachments">;

/** Unless something else is being typed there. */
export function handBack({ draft, attachments }: Desk, content: readonly Content[]): void {
  if (draft.text !== "" || attachments.items.length > 0) return;
  draft.text = textOf(content);
  attachments.putBack(content);
}

export function takeFromDesk({ draft, attachments }: Desk, content: readonly Content[]): void {
  if (draft.text !== textOf(content)) return;
  draft.text = "";
  attachments.take();
}
