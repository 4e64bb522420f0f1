// Where the conversation outlives a reload: in this tab's own storage, until the server keeps conversations.
import type { Shelf } from "../settings/shelf";
import type { Choice } from "./tree";
import type { SavedTurn } from "./turn.svelte";

export interface SavedConversation {
  readonly version: 1;
  readonly turns: readonly SavedTurn[];
  readonly choice: Choice;
}

export interface ConversationStore {
  load(): SavedConversation | null;
  save(conversation: SavedConversation): void;
}

const KEY = "duologue.conversation";

export class ShelfStore implements ConversationStore {
  readonly #shelf: Shelf;

  constructor(shelf: Shelf) {
    this.#shelf = shelf;
  }

  load(): SavedConversation | null {
    try {
      const saved = JSON.parse(this.#shelf.get(KEY) ?? "null") as SavedConversation | null;
      return saved?.version === 1 && Array.isArray(saved.turns) ? saved : null;
    } catch {
      // Not written by us: an empty page is the honest answer.
      return null;
    }
  }

  save(conversation: SavedConversation): void {
    this.#shelf.put(KEY, conversation.turns.length === 0 ? null : JSON.stringify(conversation));
  }
}
