// Audio worklet: sends the microphone's audio to the page in frames of the server's format.
import { Framer } from "./framer";

const BLOCK = 128;

/** Messages from the page. */
export type CaptureOrder = { readonly kind: "mute"; readonly muted: boolean } | { readonly kind: "stop" };

class Capture extends AudioWorkletProcessor {
  readonly #framer = new Framer(sampleRate);
  #stopped = false;

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<CaptureOrder>) => {
      if (data.kind === "stop") this.#stopped = true;
      else this.#framer.muted = data.muted;
    };
  }

  process([channels = []]: Float32Array[][]): boolean {
    for (const frame of this.#framer.push(channels, channels[0]?.length ?? BLOCK)) this.port.postMessage(frame, [frame.pcm.buffer]);
    return !this.#stopped;
  }
}

registerProcessor("duologue-capture", Capture);
