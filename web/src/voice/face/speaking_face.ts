// The pose of a face in each frame: how it moves by itself, with the mouth of what it says. Pure.
import type { Lips } from "./lips";
import { FaceMotion, type FaceMood } from "./motion";
import { mouthPose, type Pose } from "./pose";

/** How much less a face smiles with its mouth wide open: both together would tear the corners apart. */
const SPOKEN_SMILE = 0.6;

export class SpeakingFace {
  readonly #lips: Pick<Lips, "mouth">;
  readonly #motion: FaceMotion;

  /** `still`: for people who want less motion; it blinks and speaks. */
  constructor(lips: Pick<Lips, "mouth">, mood: FaceMood, seed: number, still: boolean) {
    this.#lips = lips;
    this.#motion = new FaceMotion(mood, seed, still);
  }

  /** The pose `elapsed` milliseconds after the last one. */
  step(elapsed: number, mood: FaceMood): Pose {
    const motion = this.#motion.step(elapsed, mood);
    const mouth = mouthPose(this.#lips.mouth());
    const spoken = Math.min(1, (mouth.open ?? 0) + (mouth.round ?? 0));
    return { ...motion, ...mouth, press: Math.max(motion.press ?? 0, mouth.press ?? 0), smile: (motion.smile ?? 0) * (1 - SPOKEN_SMILE * spoken) };
  }
}
