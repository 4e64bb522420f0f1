// What the open conversation needs from the rest of the page.
import type { Clock } from "../wire/transport/clock";
import type { ConversationClient, RunOptions } from "../wire/chat/conversations";
import type { EventStream, StreamListener } from "../wire/transport/event_stream";
import type { Conversation } from "../wire/chat/rows";
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
  /** The name of the model, and the options for the next run. */
  readonly options: () => RunOptions & { readonly speaker: string };
  /** A model's name as people write it. */
  readonly titleOf: (model: string) => string;
  /** System prompt of a new conversation. */
  readonly systemPrompt: () => string;
  /** A command failed: the server's state may have changed. */
  readonly onFailure: () => void;
  /** A conversation was created or opened. */
  readonly onLoaded: (conversation: Conversation) => void;
  /** Makes this the page's address; null is a new conversation. `stays`: only if the chat screen is in view. */
  readonly navigate: (conversation: string | null, stays?: boolean) => void;
}
