// The loudspeaker: plays replies in an audio worklet and reports their position.
import playoutAddress from "./playout.worklet?worker&url";
import type { PlayoutOrder, PlayoutReport } from "./playout";

export interface Speaker {
  play(order: PlayoutOrder): void;
  stop(): void;
}

/** Interval for checking the output latency, milliseconds: headphones come and go. */
const LATENCY_POLL_MS = 1000;

/** Browsers load audio worklets only over HTTPS or from localhost. */
export class InsecureContextError extends Error {}

/** Throws InsecureContextError, or the browser's own error if the worklet cannot be loaded. */
export async function openSpeaker(context: AudioContext, onReport: (report: PlayoutReport) => void): Promise<Speaker> {
  if (!isSecureContext) throw new InsecureContextError();
  await context.audioWorklet.addModule(playoutAddress);
  const player = new AudioWorkletNode(context, "duologue-playout", { numberOfInputs: 0, outputChannelCount: [1] });
  player.port.onmessage = ({ data }: MessageEvent<PlayoutReport>) => onReport(data);
  player.connect(context.destination);
  let sentFrames = -1;
  const syncLatency = () => {
    // A phone call or a dark screen suspends audio on phones until it is resumed explicitly.
    if (context.state !== "running" && context.state !== "closed") void context.resume().catch(() => {});
    // Safari reports neither value for a while after the start.
    const frames = Math.round((context.outputLatency || context.baseLatency || 0) * context.sampleRate);
    if (frames !== sentFrames) player.port.postMessage({ kind: "latency", frames: (sentFrames = frames) } satisfies PlayoutOrder);
  };
  syncLatency();
  const timer = setInterval(syncLatency, LATENCY_POLL_MS);
  return {
    play: (order) => player.port.postMessage(order),
    stop() {
      clearInterval(timer);
      player.port.onmessage = null;
      player.port.postMessage({ kind: "stop" });
      player.disconnect();
    },
  };
}
