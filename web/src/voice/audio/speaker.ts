// The loudspeaker: replies played in the audio thread, and how far they were heard. Owns the browser's side of it.
import playoutAddress from "./playout.worklet?worker&url";
import type { PlayoutOrder, PlayoutReport } from "./playout";

export interface Speaker {
  play(order: PlayoutOrder): void;
  stop(): void;
}

/** How long what was rendered takes to the ear is looked at so often, milliseconds: headphones come and go. */
const LATENCY_POLL_MS = 1000;

/** Browsers load what plays only for pages that came over https, or from this machine. */
export class InsecureContextError extends Error {}

/** Raises InsecureSound, and whatever the browser raises when it cannot load what plays. */
export async function openSpeaker(context: AudioContext, onReport: (report: PlayoutReport) => void): Promise<Speaker> {
  if (!isSecureContext) throw new InsecureContextError();
  await context.audioWorklet.addModule(playoutAddress);
  const player = new AudioWorkletNode(context, "duologue-playout", { numberOfInputs: 0, outputChannelCount: [1] });
  player.port.onmessage = ({ data }: MessageEvent<PlayoutReport>) => onReport(data);
  player.connect(context.destination);
  let sentFrames = -1;
  const syncLatency = () => {
    // A phone call, or the screen's going dark, stops a phone's sound until it is asked for again.
    if (context.state !== "running" && context.state !== "closed") void context.resume().catch(() => {});
    // Safari tells neither for a while after the beginning.
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
