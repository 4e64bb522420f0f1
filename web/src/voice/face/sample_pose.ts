// A face that tries itself out: it says the same few words again and again, blinks, and looks around a little. Pure.
import { mouthAt, type MouthKey } from "./mouth";
import { mouthPose, type Pose } from "./pose";

const RATE = 24_000;
/** Seconds after which it begins again. */
const ROUND = 5;
/** "Hello, how are you?", in hundredths of a second: open, wide, press, tuck, tongue. */
const WORDS: readonly (readonly [number, number, number, number, number, number])[] = [
  [0, 0, 0, 0, 0, 0],
  [12, 55, 30, 0, 0, 0],
  [22, 25, 15, 0, 0, 80],
  [36, 60, -60, 0, 0, 0],
  [50, 30, -80, 0, 0, 0],
  [62, 0, 0, 0, 0, 0],
  [78, 80, 10, 0, 0, 0],
  [92, 35, -70, 0, 0, 0],
  [104, 90, 0, 0, 0, 0],
  [118, 45, -20, 0, 0, 10],
  [128, 25, 60, 0, 0, 0],
  [142, 35, -100, 0, 0, 0],
  [170, 25, -80, 0, 0, 0],
  [188, 0, 0, 0, 0, 0],
  [215, 0, 0, 100, 0, 0],
  [230, 85, 10, 0, 0, 0],
  [245, 20, 40, 0, 100, 0],
  [260, 60, 70, 0, 0, 0],
  [285, 0, 0, 0, 0, 0],
];
const KEYS: readonly MouthKey[] = WORDS.map(([at, ...weights]) => [(at * RATE) / 100, ...weights]);

/** The pose after so many seconds. `still`: for people who want no motion, one mouth that is open. */
export function samplePose(seconds: number, still = false): Pose {
  if (still) return { open: 0.6 };
  const within = seconds % ROUND;
  const blink = Math.max(0, 1 - Math.abs(within - 3.4) / 0.12, 1 - Math.abs(within - 0.7) / 0.12);
  const swing = (period: number) => Math.sin((seconds * 2 * Math.PI) / period);
  return {
    ...mouthPose(mouthAt(KEYS, within * RATE)),
    blink: Math.min(1, blink),
    look_x: within > 3.8 ? 0.5 * Math.sin(((within - 3.8) / 1.2) * Math.PI) : 0,
    turn: 0.35 * swing(ROUND),
    nod: 0.25 * swing(ROUND / 2),
    tilt: 0.2 * swing(ROUND * 2),
    breath: 0.5 + 0.5 * swing(ROUND),
  };
}
