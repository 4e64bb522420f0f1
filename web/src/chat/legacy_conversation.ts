// Converts a conversation that an early version of the page kept in session storage into a JSONL file the server can
// import: the conversation first, then its messages. Pure.
import type { TextStorage } from "../settings/storage";

const KEY = "duologue.conversation";

interface LegacyReply {
  readonly text?: string;
  readonly reasoning?: string;
  readonly model?: string;
  readonly stage?: string;
  readonly finish?: string | null;
}

interface LegacyTurn {
  readonly id: string;
  readonly parent: string | null;
  readonly text?: string;
  readonly reply?: LegacyReply;
}

interface LegacyConversation {
  readonly version: 1;
  readonly turns: readonly LegacyTurn[];
}

function read(storage: TextStorage): LegacyConversation | null {
  try {
    const legacy = JSON.parse(storage.get(KEY) ?? "null") as LegacyConversation | null;
    return legacy?.version === 1 && Array.isArray(legacy.turns) && legacy.turns.length > 0 ? legacy : null;
  } catch {
    // Not valid JSON: nothing to import.
    return null;
  }
}

function rowOf(turn: LegacyTurn, conversation: string, created: number): object {
  const { id, parent, text = "", reply } = turn;
  const base = { id, conversation, parent, created };
  const content = (answer: string) => (answer === "" ? [] : [{ type: "text", text: answer }]);
  if (!reply) return { ...base, role: "user", content: content(text) };
  const { text: answer = "", reasoning = "", model = "", stage, finish } = reply;
  const status = stage === "failed" ? "failed" : finish === "cancelled" ? "stopped" : stage === "ended" ? "done" : "interrupted";
  return { ...base, role: "assistant", content: content(answer), reasoning, model, status, ...(finish ? { finish } : {}) };
}

export interface LegacyExport {
  /** The conversation's id, always the same, so that a second import is skipped. */
  readonly id: string;
  readonly text: string;
}

/** Null if there is none. */
export function legacyConversation(storage: TextStorage, now: number): LegacyExport | null {
  const legacy = read(storage);
  if (!legacy) return null;
  const id = legacy.turns[0]?.id ?? "";
  const title = legacy.turns.find(({ text }) => text)?.text?.trim().replace(/\s+/g, " ").slice(0, 60) ?? "";
  const leaf = legacy.turns.at(-1)?.id ?? null;
  const header = { type: "conversation", duologue: 1, conversation: { id, title, created: now, updated: now, leaf } };
  const rows = legacy.turns.map((turn, index) => ({ type: "message", message: rowOf(turn, id, now + index) }));
  return { id, text: [header, ...rows].map((line) => `${JSON.stringify(line)}\n`).join("") };
}

export function forgetLegacy(storage: TextStorage): void {
  storage.put(KEY, null);
}
