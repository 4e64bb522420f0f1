// The curve of a mouth: keys that arrive beside the sound of a reply, and the mouth at a sample. The server has the same in
// `values/mouth.py`; between two keys the mouth changes in a straight line. Pure.

/** Sample of the reply at 24 kHz, then open, wide, press, tuck and tongue in hundredths; wide is negative for rounded lips. */
export type MouthKey = readonly [at: number, open: number, wide: number, press: number, tuck: number, tongue: number];

/** Weights of 0 to 1; `wide` of -1 to 1. */
export interface Mouth {
  readonly open: number;
  readonly wide: number;
  readonly press: number;
  readonly tuck: number;
  readonly tongue: number;
}

export const REST: Mouth = { open: 0, wide: 0, press: 0, tuck: 0, tongue: 0 };

const FULL = 100;

/** The mouth at sample `at`, by keys in the order of their positions. */
export function mouthAt(keys: readonly MouthKey[], at: number): Mouth {
  const after = firstAfter(keys, at);
  if (after === 0 || (after === keys.length && at > keys[after - 1]![0])) return REST;
  const low = keys[after - 1]!;
  const high = keys[Math.min(after, keys.length - 1)]!;
  const share = high[0] > low[0] ? (at - low[0]) / (high[0] - low[0]) : 0;
  const weight = (index: 1 | 2 | 3 | 4 | 5) => (low[index] + (high[index] - low[index]) * share) / FULL;
  return { open: weight(1), wide: weight(2), press: weight(3), tuck: weight(4), tongue: weight(5) };
}

/** The index of the first key behind `at`. */
function firstAfter(keys: readonly MouthKey[], at: number): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keys[middle]![0] <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
