// Which turns of a conversation are drawn in full from the start: those at its end, those a change of the branch has just
// brought, and those around one that is sought. The others are plain text until they come near the viewport. Pure.

export interface Keyed {
  readonly key: string;
}

/** The estimated height of a turn in pixels. */
export type HeightOf<T> = (turn: T) => number;

/** A reply longer than the screen still comes with the question before it. */
const FEWEST = 4;

const LINE_PIXELS = 26;
const FOOT_PIXELS = 44;

/** Estimated height in pixels of a text in lines of so many characters. */
export function textHeight(text: string, columns: number): number {
  let lines = 0;
  for (const line of text.split("\n")) lines += Math.max(1, Math.ceil(line.length / columns));
  return lines * LINE_PIXELS + FOOT_PIXELS;
}

/** Keys of the turns drawn at once: the end, to `room` pixels, and from the first that is not in `known`. */
export function turnsAtStart<T extends Keyed>(turns: readonly T[], known: ReadonlySet<string>, room: number, heightOf: HeightOf<T>): Set<string> {
  const keys = new Set<string>();
  for (let index = turns.length - 1, height = 0; index >= 0 && (height < room || keys.size < FEWEST); index--) {
    keys.add(turns[index]!.key);
    height += heightOf(turns[index]!);
  }
  const fresh = known.size === 0 ? -1 : turns.findIndex(({ key }) => !known.has(key));
  if (fresh >= 0) addFrom(keys, turns.slice(fresh), room, heightOf);
  return keys;
}

/** Keys of the turn at `index` and of those up to `room` pixels above and below it. */
export function turnsAround<T extends Keyed>(turns: readonly T[], index: number, room: number, heightOf: HeightOf<T>): Set<string> {
  const keys = new Set<string>();
  const middle = turns[index];
  if (!middle) return keys;
  keys.add(middle.key);
  addFrom(keys, turns.slice(0, index).reverse(), room, heightOf);
  addFrom(keys, turns.slice(index + 1), room, heightOf);
  return keys;
}

function addFrom<T extends Keyed>(keys: Set<string>, turns: readonly T[], room: number, heightOf: HeightOf<T>): void {
  let height = 0;
  for (const turn of turns) {
    if (height >= room) return;
    keys.add(turn.key);
    height += heightOf(turn);
  }
}
