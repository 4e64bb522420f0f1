import { expect, test } from "vitest";

import { type Mouth, REST } from "../../../src/voice/face/mouth";
import { SpeakingFace } from "../../../src/voice/face/speaking_face";

test("a pose has the mouth of what is said and the motion of the face", () => {
  let mouth: Mouth = REST;
  const face = new SpeakingFace({ mouth: () => mouth }, "speaking", 1, false);
  const silent = face.step(16, "speaking");
  mouth = { ...REST, open: 0.8, wide: -0.5 };
  const speaking = face.step(16, "speaking");
  expect(silent).toMatchObject({ open: 0, round: 0 });
  expect(speaking).toMatchObject({ open: 0.8, round: 0.5 });
  expect(speaking.turn).toBeTypeOf("number");
  expect(speaking.smile!).toBeLessThan(silent.smile!);
});

test("with less motion the head stays, and the mouth still speaks", () => {
  const face = new SpeakingFace({ mouth: () => ({ ...REST, press: 1 }) }, "speaking", 1, true);
  const pose = face.step(16, "speaking");
  expect(pose).not.toHaveProperty("turn");
  expect(pose).not.toHaveProperty("breath");
  expect(pose.press).toBe(1);
});
