// Which changes to files are told with a reply. Each turn's prompt contains the whole conversation, so its run names every
// change again; a reply tells those that no earlier reply on the page has told. Pure.
import type { FittedMedia, FittingNote, WrittenSound } from "../../wire/chat/rows";
import type { TurnRow, Turn } from "../turns";

export interface FittedRow extends TurnRow {
  readonly fitted: FittedMedia | null;
}

/** A change, with what was written down of a sound. */
export interface FittedFile {
  readonly note: FittingNote;
  readonly sound: WrittenSound | null;
}

const keyOf = ({ where, kind, became, count = 0 }: FittingNote) => `${where} ${kind} ${became} ${count}`;
const rowsOf = <R extends FittedRow>(turn: Turn<R>): readonly R[] => (turn.kind === "reply" ? turn.rows : []);

/** What the turn with this key tells; usually nothing. */
export function filesFittedFor<R extends FittedRow>(turns: readonly Turn<R>[], key: string): FittedFile[] {
  const turn = turns.find((turn) => turn.key === key);
  if (!turn || rowsOf(turn).every(({ fitted }) => !fitted)) return [];
  const told = new Set<string>();
  for (const earlier of turns.slice(0, turns.indexOf(turn))) for (const { fitted } of rowsOf(earlier)) fitted?.notes?.forEach((note) => told.add(keyOf(note)));
  const files: FittedFile[] = [];
  for (const { fitted } of rowsOf(turn)) {
    for (const note of fitted?.notes ?? []) {
      if (told.has(keyOf(note))) continue;
      told.add(keyOf(note));
      files.push({ note, sound: fitted?.transcripts?.find(({ message, part }) => note.where === `messages[${message}].content[${part}]`) ?? null });
    }
  }
  return files;
}
