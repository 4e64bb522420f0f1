// One turn of a conversation: who, under which parent, and what is said. A reply's content changes while it is
// written, and only what draws that turn has to know.
import { type Failure, fail, isRunning, type Reply } from "./reply";
import type { Node } from "./tree";

export class UserTurn implements Node {
  readonly role = "user";

  constructor(
    readonly id: string,
    readonly parent: string | null,
    readonly text: string,
  ) {}
}

export class AssistantTurn implements Node {
  readonly role = "assistant";
  reply: Reply = $state.raw() as Reply;

  constructor(
    readonly id: string,
    readonly parent: string | null,
    reply: Reply,
  ) {
    this.reply = reply;
  }

  get text(): string {
    return this.reply.text;
  }
}

export type Turn = UserTurn | AssistantTurn;

/** Of 16 random bytes; `crypto.randomUUID` is missing on plain HTTP pages of another machine. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export interface SavedTurn {
  readonly id: string;
  readonly parent: string | null;
  readonly text?: string;
  readonly reply?: Reply;
}

export function save(turn: Turn): SavedTurn {
  const { id, parent } = turn;
  return turn.role === "user" ? { id, parent, text: turn.text } : { id, parent, reply: turn.reply };
}

/** A saved turn; a reply that was running then is a failed one now, its words kept. */
export function restore(saved: SavedTurn, interrupted: Failure): Turn {
  const { id, parent, text = "", reply } = saved;
  if (!reply) return new UserTurn(id, parent, text);
  return new AssistantTurn(id, parent, isRunning(reply) ? fail(reply, interrupted, reply.since) : reply);
}
