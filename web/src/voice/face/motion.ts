// How a face moves by itself: blinks, gaze, breath, small motions of the head, and how it holds itself in each state of a call. The
// server has the same in `faces/motion.py`; one file of examples tests both. Chance is a number made of a seed and of the time, so that
// everything is a function of the time. Pure.
import type { Pose } from "./pose";

/** A state of a call, or "calling" and "over" around it. */
export type FaceMood = "calling" | "listening" | "hearing" | "thinking" | "speaking" | "paused" | "waiting" | "over";

/** Seconds after which everything begins again; all slots and waves divide it. */
const PERIOD_S = 48;
const BLINK_SLOT_S = 4;
const [CLOSING_S, CLOSED_S, OPENING_S] = [0.075, 0.035, 0.14];
/** The second blink of two. */
const AGAIN_S = 0.3;
const DOUBLE_SHARE = 0.18;
const GAZE_SLOT_S = 1.6;
const SACCADE_S = 0.06;
const ACCENT_SLOT_S = 1.5;
const ACCENT_S = 0.55;
const BREATH_S = 4;
/** Half-lives of a change of state: the eyes go first. */
const [EYES_HALF_MS, HEAD_HALF_MS] = [70, 190];
const LONGEST_STEP_MS = 100;

/** How a face holds itself: the middle of its pose, how far the eyes wander, how much the head moves, and how much brows and head mark
 * words. */
const STEADY = { look_x: 0, look_y: 0, turn: 0, nod: 0, tilt: 0, brow: 0, smile: 0.25, press: 0, blink: 0, spread: 0.1, sway: 0.6, accents: 0 };

type Manner = Readonly<typeof STEADY>;

const NAMES = Object.keys(STEADY) as (keyof Manner)[];
const OF_THE_EYES: ReadonlySet<keyof Manner> = new Set(["look_x", "look_y", "blink"]);

const MANNERS: Readonly<Record<FaceMood, Manner>> = {
  calling: { ...STEADY, smile: 0.35, brow: 0.1, spread: 0.2 },
  listening: { ...STEADY, smile: 0.32, tilt: 0.1, brow: 0.06, spread: 0.08 },
  hearing: { ...STEADY, smile: 0.26, tilt: 0.24, nod: 0.08, brow: 0.22, spread: 0.06, accents: 0.35 },
  thinking: { ...STEADY, look_x: 0.6, look_y: -0.65, turn: 0.3, nod: -0.22, tilt: -0.2, brow: 0.32, smile: 0.12, press: 0.15, spread: 0.16 },
  speaking: { ...STEADY, smile: 0.22, brow: 0.04, spread: 0.14, sway: 1.2, accents: 1 },
  paused: { ...STEADY, smile: 0.2, tilt: 0.3, brow: 0.4, spread: 0.05, sway: 0.4 },
  waiting: { ...STEADY, look_y: 0.05, smile: 0.18, spread: 0.5, sway: 0.5 },
  over: { ...STEADY, look_y: 0.25, nod: 0.2, smile: 0.3, blink: 0.2, spread: 0, sway: 0.3 },
};

/** The parts of a pose beside those of speech, for a face that has been in this state for long. */
export function motionAt(seconds: number, mood: FaceMood, seed = 0): Pose {
  return composed(MANNERS[mood], seconds, seed);
}

/** The same for a face whose state changes: it passes from one to the other without a jump. `still`: it only blinks. */
export class FaceMotion {
  readonly #seed: number;
  readonly #still: boolean;
  #manner: Manner;
  #seconds = 0;

  constructor(mood: FaceMood, seed = 0, still = false) {
    this.#manner = MANNERS[mood];
    this.#seed = seed;
    this.#still = still;
  }

  /** The parts of a pose `elapsed` milliseconds after the last step. */
  step(elapsed: number, mood: FaceMood): Pose {
    const step = Math.min(LONGEST_STEP_MS, Math.max(0, elapsed));
    this.#seconds += step / 1000;
    this.#manner = blended(this.#manner, MANNERS[mood], step);
    if (!this.#still) return composed(this.#manner, this.#seconds, this.#seed);
    const { blink, smile, brow, press } = this.#manner;
    return { blink: Math.max(blink, blinkAt(this.#seconds, this.#seed)), smile, brow, press };
  }
}

function composed(manner: Manner, seconds: number, seed: number): Pose {
  const [gazeX, gazeY] = gazeAt(seconds, seed);
  const accent = manner.accents * accentAt(seconds, seed);
  const { spread, sway } = manner;
  return {
    blink: Math.max(manner.blink, blinkAt(seconds, seed)),
    look_x: manner.look_x + spread * gazeX,
    look_y: manner.look_y + 0.6 * spread * gazeY,
    turn: manner.turn + 0.3 * spread * gazeX + sway * (0.2 * wave(seconds, 12) + 0.1 * wave(seconds, 16 / 3)),
    nod: manner.nod + sway * (0.12 * wave(seconds, 8) + 0.06 * wave(seconds, 3)) + 0.45 * accent,
    tilt: manner.tilt + sway * (0.16 * wave(seconds, 16) + 0.05 * wave(seconds, 4.8)),
    brow: manner.brow + 0.5 * accent,
    smile: manner.smile,
    press: manner.press,
    breath: 0.5 - 0.5 * Math.cos((2 * Math.PI * seconds) / BREATH_S),
  };
}

/** How far the lids are closed: once in the first half of each slot, so every two to six seconds. */
function blinkAt(seconds: number, seed: number): number {
  const slot = Math.floor(seconds / BLINK_SLOT_S);
  const into = seconds - slot * BLINK_SLOT_S - 0.5 * BLINK_SLOT_S * chance(seed, slot, 1, BLINK_SLOT_S);
  const closed = lid(into);
  return chance(seed, slot, 2, BLINK_SLOT_S) < DOUBLE_SHARE ? Math.max(closed, lid(into - AGAIN_S)) : closed;
}

function gazeAt(seconds: number, seed: number): readonly [number, number] {
  const slot = Math.floor(seconds / GAZE_SLOT_S);
  const starts = 0.6 * GAZE_SLOT_S * chance(seed, slot, 3, GAZE_SLOT_S);
  const share = smooth((seconds - slot * GAZE_SLOT_S - starts) / SACCADE_S);
  const [before, after] = [targetOf(seed, slot - 1), targetOf(seed, slot)];
  return [before[0] + (after[0] - before[0]) * share, before[1] + (after[1] - before[1]) * share];
}

/** How much a word is marked: about every second slot has one. */
function accentAt(seconds: number, seed: number): number {
  const slot = Math.floor(seconds / ACCENT_SLOT_S);
  if (chance(seed, slot, 6, ACCENT_SLOT_S) < 0.5) return 0;
  const starts = (ACCENT_SLOT_S - ACCENT_S) * chance(seed, slot, 7, ACCENT_SLOT_S);
  const share = (seconds - slot * ACCENT_SLOT_S - starts) / ACCENT_S;
  return share > 0 && share < 1 ? Math.sin(Math.PI * share) ** 2 : 0;
}

/** Where the eyes rest in a slot: often at the person in front of them. */
function targetOf(seed: number, slot: number): readonly [number, number] {
  if (chance(seed, slot, 8, GAZE_SLOT_S) < 0.4) return [0, 0];
  return [2 * chance(seed, slot, 4, GAZE_SLOT_S) - 1, 2 * chance(seed, slot, 5, GAZE_SLOT_S) - 1];
}

/** How far one blink has closed the eye, `into` seconds from its beginning. */
function lid(into: number): number {
  if (into <= 0) return 0;
  return into < CLOSING_S ? smooth(into / CLOSING_S) : 1 - smooth((into - CLOSING_S - CLOSED_S) / OPENING_S);
}

function blended(one: Manner, other: Manner, elapsed: number): Manner {
  const eyes = 1 - 0.5 ** (elapsed / EYES_HALF_MS);
  const head = 1 - 0.5 ** (elapsed / HEAD_HALF_MS);
  const values = { ...one };
  for (const name of NAMES) values[name] += (other[name] - one[name]) * (OF_THE_EYES.has(name) ? eyes : head);
  return values;
}

function wave(seconds: number, period: number): number {
  return Math.sin((2 * Math.PI * seconds) / period);
}

/** From 0 to 1 with rest at both ends. */
function smooth(share: number): number {
  const within = Math.min(1, Math.max(0, share));
  return within * within * (3 - 2 * within);
}

/** A number of 0 to 1 that a slot of time has for each purpose: an integer hash of 32 bits. */
function chance(seed: number, slot: number, channel: number, slotSeconds: number): number {
  const slots = Math.round(PERIOD_S / slotSeconds);
  const at = ((slot % slots) + slots) % slots;
  let value = (Math.imul(seed, 0x9e3779b1) + Math.imul(at, 0x85ebca6b) + Math.imul(channel, 0xc2b2ae35)) >>> 0;
  value ^= value >>> 16;
  value = Math.imul(value, 0x7feb352d);
  value ^= value >>> 15;
  value = Math.imul(value, 0x846ca68b);
  return ((value ^ (value >>> 16)) >>> 0) / 2 ** 32;
}
