import { beforeEach, describe, expect, it, vi } from "vitest";

vi.mock("../../../src/voice/audio/capture.worklet?worker&url", () => ({ default: "capture.js" }));

import { Recorder } from "../../../src/voice/recording/recorder";
import { MicrophoneError, type MicrophoneListener } from "../../../src/voice/audio/microphone";
import { FakeClock } from "../../clock";

let clock: FakeClock;
let done: string[];
let listener: MicrophoneListener;
let refusal: MicrophoneError | null;
let recorder: Recorder;

beforeEach(() => {
  [clock, done, refusal] = [new FakeClock(), [], null];
  const microphone = async (given: MicrophoneListener) => {
    if (refusal) throw refusal;
    listener = given;
    return { device: "", setMuted: () => {}, stop: () => done.push("stopped") };
  };
  recorder = new Recorder(
    { microphone, clock, reportProblem: (sentence) => done.push(sentence) },
    () => done.push("heard"),
    () => done.push("ended"),
  );
});

const frame = () => ({ pcm: new Int16Array(320), level: 0.5 });

describe("the microphone of the composer", () => {
  it("passes frames and loudness while open", async () => {
    expect(await recorder.open(1000)).toBe(true);
    listener.onFrame(frame());
    expect([done, recorder.volume]).toEqual([["heard"], 0.5]);
    recorder.close();
    listener.onFrame(frame());
    expect([done, recorder.volume]).toEqual([["heard", "stopped"], 0]);
  });

  it("closes after a time limit, and reports a lost microphone", async () => {
    await recorder.open(1000);
    clock.pass(1000);
    listener.onLost();
    expect(done).toEqual(["ended", "ended"]);
  });

  it("that was closed during the permission prompt is released at once", async () => {
    const opened = recorder.open(1000);
    recorder.close();
    expect(await opened).toBe(false);
    expect(done).toEqual(["stopped"]);
  });

  it("reports why there is none, unless it was closed meanwhile", async () => {
    refusal = new MicrophoneError("denied");
    expect(await recorder.open(1000)).toBe(false);
    expect(done[0]).toContain("blocked");
    done = [];
    const opened = recorder.open(1000);
    recorder.close();
    expect([await opened, done]).toEqual([false, []]);
  });
});
