import { type Conversation, conversationOf } from "../src/wire/chat/rows";

/** A conversation with defaults for all other fields. */
export function conversation(id: string, updated = 0, fields: Partial<Conversation> = {}): Conversation {
  return conversationOf({ id, updated, ...fields });
}
