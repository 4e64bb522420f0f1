// Audio worklet: plays what the page sends and reports the position.
import { Playout, type PlayoutOrder } from "./playout";

class Player extends AudioWorkletProcessor {
  readonly #playout = new Playout(sampleRate, (report) => this.port.postMessage(report));
  #stopped = false;

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<PlayoutOrder | { readonly kind: "stop" }>) => {
      if (data.kind === "stop") this.#stopped = true;
      else this.#playout.handle(data);
    };
  }

  process(_: Float32Array[][], [channels = []]: Float32Array[][]): boolean {
    const [first, ...others] = channels;
    if (first) this.#playout.render(first);
    for (const other of others) other.set(first!);
    return !this.#stopped;
  }
}

registerProcessor("duologue-playout", Player);
