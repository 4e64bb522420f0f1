// A conversation that an earlier version of the page kept in the tab's own storage, as a file the server imports:
// lines of JSON, the conversation first and then its rows. Pure.
import type { TextStorage } from "../settings/shelf";

const KEY = "duologue.conversation";

interface FormerReply {
  readonly text?: string;
  readonly reasoning?: string;
  readonly model?: string;
  readonly stage?: string;
  readonly finish?: string | null;
}

interface FormerTurn {
  readonly id: string;
  readonly parent: string | null;
  readonly text?: string;
  readonly reply?: FormerReply;
}

interface Former {
  readonly version: 1;
  readonly turns: readonly FormerTurn[];
}

function read(storage: TextStorage): Former | null {
  try {
    const former = JSON.parse(storage.get(KEY) ?? "null") as Former | null;
    return former?.version === 1 && Array.isArray(former.turns) && former.turns.length > 0 ? former : null;
  } catch {
    // Not written by us: there is nothing to bring over.
    return null;
  }
}

function rowOf(turn: FormerTurn, conversation: string, created: number): object {
  const { id, parent, text = "", reply } = turn;
  const base = { id, conversation, parent, created };
  const content = (said: string) => (said === "" ? [] : [{ type: "text", text: said }]);
  if (!reply) return { ...base, role: "user", content: content(text) };
  const { text: said = "", reasoning = "", model = "", stage, finish } = reply;
  const status = stage === "failed" ? "failed" : finish === "cancelled" ? "stopped" : stage === "ended" ? "done" : "interrupted";
  return { ...base, role: "assistant", content: content(said), reasoning, model, status, ...(finish ? { finish } : {}) };
}

export interface FormerFile {
  /** Of the conversation. The same each time: what was brought over already is not brought twice. */
  readonly id: string;
  readonly text: string;
}

/** Null where there is nothing. */
export function formerConversation(storage: TextStorage, now: number): FormerFile | null {
  const former = read(storage);
  if (!former) return null;
  const id = former.turns[0]?.id ?? "";
  const title = former.turns.find(({ text }) => text)?.text?.trim().replace(/\s+/g, " ").slice(0, 60) ?? "";
  const leaf = former.turns.at(-1)?.id ?? null;
  const header = { type: "conversation", duologue: 1, conversation: { id, title, created: now, updated: now, leaf } };
  const rows = former.turns.map((turn, index) => ({ type: "message", message: rowOf(turn, id, now + index) }));
  return { id, text: [header, ...rows].map((line) => `${JSON.stringify(line)}\n`).join("") };
}

export function forgetFormer(storage: TextStorage): void {
  storage.put(KEY, null);
}
