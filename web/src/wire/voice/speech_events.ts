// Speech as server-sent events: the sound, and beside it the movements of the mouth that says it.
import type { MouthKey } from "../../voice/face/mouth";
import { SseParser } from "../transport/event_stream";

interface SpeechEvent {
  readonly type?: string;
  /** Base64. */
  readonly audio?: string;
  readonly mouth?: readonly MouthKey[];
}

/** The sound of these events, as it would come without them; `onMouth` gets the keys. It fails where the events end before the speech. */
export function soundOf(events: ReadableStream<Uint8Array>, onMouth: (keys: readonly MouthKey[]) => void): ReadableStream<Uint8Array> {
  const parser = new SseParser();
  const decoder = new TextDecoder();
  let done = false;
  return events.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, sound) {
        for (const data of parser.feed(decoder.decode(piece, { stream: true }))) {
          const event = JSON.parse(data) as SpeechEvent;
          if (event.type === "speech.audio.done") done = true;
          if (event.mouth) onMouth(event.mouth);
          if (event.audio) sound.enqueue(Uint8Array.from(atob(event.audio), (letter) => letter.charCodeAt(0)));
        }
      },
      flush() {
        if (!done) throw new Error("The speech broke off.");
      },
    }),
  );
}
