// Groups a path of rows into the turns that are drawn: a user message, or a reply with all model turns and tool results
// up to the next user message. Pure.
import type { Role } from "../wire/chat/rows";

export interface TurnRow {
  readonly key: string;
  readonly role: Role;
  readonly kind: "message" | "summary";
}

export type Turn<R extends TurnRow> =
  | { readonly kind: "user" | "system" | "summary"; readonly key: string; readonly row: R }
  | { readonly kind: "reply"; readonly key: string; readonly rows: readonly R[] };

export function turnsOf<R extends TurnRow>(path: readonly R[]): Turn<R>[] {
  const turns: Turn<R>[] = [];
  let reply: R[] | null = null;
  for (const row of path) {
    if (row.kind === "message" && (row.role === "assistant" || row.role === "tool")) {
      if (reply) reply.push(row);
      else turns.push({ kind: "reply", key: row.key, rows: (reply = [row]) });
      continue;
    }
    reply = null;
    turns.push({ kind: row.kind === "summary" ? "summary" : row.role === "system" ? "system" : "user", key: row.key, row });
  }
  return turns;
}

/** One model turn with its tool results; `row` is null if only those are left. */
export interface ModelTurn<R> {
  readonly key: string;
  readonly row: R | null;
  readonly tools: readonly R[];
}

/** Model turns drawn as one: after the first they only called tools. */
export interface TurnGroup<R> {
  readonly key: string;
  readonly row: R | null;
  readonly parts: readonly ModelTurn<R>[];
}

/** The model turns of a reply. */
export function modelTurns<R extends TurnRow>(rows: readonly R[]): ModelTurn<R>[] {
  const parts: { key: string; row: R | null; tools: R[] }[] = [];
  for (const row of rows) {
    const last = parts.at(-1);
    if (row.role === "assistant") parts.push({ key: row.key, row, tools: [] });
    else if (last) last.tools.push(row);
    else parts.push({ key: row.key, row: null, tools: [row] });
  }
  return parts;
}

/** Joins model turns whose row is `silent` to the one before. */
export function groupSilent<R extends TurnRow>(parts: readonly ModelTurn<R>[], silent: (row: R) => boolean): TurnGroup<R>[] {
  const groups: { key: string; row: R | null; parts: ModelTurn<R>[] }[] = [];
  for (const part of parts) {
    const last = groups.at(-1);
    if (last && part.row && silent(part.row)) last.parts.push(part);
    else groups.push({ key: part.key, row: part.row, parts: [part] });
  }
  return groups;
}
