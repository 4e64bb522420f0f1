import { beforeEach, expect, it } from "vitest";

import { FRAME_SAMPLES } from "../../../src/voice/audio/framer";
import { MicrophoneError, type MicrophoneListener } from "../../../src/voice/audio/microphone";
import { MAX_SECONDS, VoiceSample } from "../../../src/voice/recording/voice_sample.svelte";
import { FakeClock } from "../../clock";

let listener: MicrophoneListener | null;
let stopped: number;
let ends: (Blob | null)[];
let problems: string[];
let fault: MicrophoneError | null;
let sample: VoiceSample;

beforeEach(() => {
  [listener, stopped, ends, problems, fault] = [null, 0, [], [], null];
  sample = new VoiceSample({
    microphone: async (each) => {
      if (fault) throw fault;
      listener = each;
      return { device: "", setMuted: () => {}, stop: () => void stopped++ };
    },
    clock: new FakeClock(),
    reportProblem: (sentence) => void problems.push(sentence),
    onEnd: (recording) => void ends.push(recording),
  });
});

function speak(seconds: number): void {
  for (let frame = 0; frame < seconds * 50; frame++) listener?.onFrame({ pcm: new Int16Array(FRAME_SAMPLES), level: 0.5 } as never);
}

it("is recorded until a press, as a WAV file", async () => {
  await sample.begin();
  speak(2.5);
  expect([sample.seconds, sample.volume]).toEqual([2, 0.5]);
  sample.finish();
  sample.finish();
  expect(stopped).toBe(1);
  expect(ends).toHaveLength(1);
  expect(ends[0]?.size).toBe(44 + 2.5 * 32_000);
});

it("ends by itself when it is long enough", async () => {
  await sample.begin();
  speak(MAX_SECONDS + 5);
  expect(ends[0]?.size).toBe(44 + MAX_SECONDS * 32_000);
});

it("ends where the microphone is lost, with what there is", async () => {
  await sample.begin();
  speak(1);
  listener?.onLost();
  expect(ends[0]?.size).toBe(44 + 32_000);
});

it("without a microphone says why, and records nothing", async () => {
  fault = new MicrophoneError("denied");
  await sample.begin();
  expect(ends).toEqual([null]);
  expect(problems).toHaveLength(1);
});
