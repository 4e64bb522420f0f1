// The server's feed of changes to all conversations.
import { parseEvent } from "../../wire/json";
import type { EventStream, StreamListener } from "../../wire/transport/event_stream";
import type { Outcome, WaitReason } from "../../wire/chat/runs";

export type ListEvent =
  | { readonly type: "changed"; readonly conversation: string }
  | { readonly type: "removed"; readonly conversation: string }
  | { readonly type: "run"; readonly conversation: string; readonly run: string; readonly waiting?: WaitReason; readonly outcome?: Outcome | null }
  | { readonly type: "reset" };

/** The draft of a conversation, or of none ("new"), was changed elsewhere; `updated` is 0 if it was deleted. */
export interface DraftEvent {
  readonly type: "draft";
  readonly conversation: string;
  readonly updated: number;
}

/** A model was loaded or unloaded, changed its state, or became the default. */
export interface ModelsChanged {
  readonly type: "models";
}

export type FeedEvent = ListEvent | DraftEvent | ModelsChanged;

const TYPES = new Set(["changed", "removed", "run", "draft", "models", "reset"]);

export function parseFeedEvent(data: string): FeedEvent | null {
  return parseEvent<FeedEvent>(data, TYPES);
}

export interface FeedListener {
  onEvent(event: FeedEvent): void;
  /** The server is unreachable or asks for a login. */
  onFailure(): void;
}

/** The feed's stream, paused until `resume`. */
export function openFeed(openStream: (address: string, listener: StreamListener) => EventStream, { onEvent, onFailure }: FeedListener): EventStream {
  return openStream("api/events", {
    event: (data) => {
      const event = parseFeedEvent(data);
      if (event) onEvent(event);
    },
    lost: onFailure,
    refused: onFailure,
  });
}
