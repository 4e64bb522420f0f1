// Where on the page one is, as the part of the address that only the page reads: "#/c/ID" is a conversation,
// "#/c/ID/MESSAGE" a place in it, anything else a new one. Pure.

export interface Place {
  readonly conversation: string | null;
  readonly message: string | null;
}

const CONVERSATION = /^#\/c\/([\w-]{1,64})(?:\/([\w-]{1,64}))?$/;

export function placeOf(hash: string): Place {
  const [, conversation = null, message = null] = CONVERSATION.exec(hash) ?? [];
  return { conversation, message };
}

export function addressOf(conversation: string | null, message: string | null = null): string {
  if (conversation === null) return "#/";
  return `#/c/${conversation}${message === null ? "" : `/${message}`}`;
}
