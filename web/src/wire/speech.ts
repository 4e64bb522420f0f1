// The server's speech over HTTP: what is said written down, what is written said, and the voices there are. Knows no page.
import { type Answer, answerOf, ask, type Fetch } from "./transport/http";

export interface NamedVoice {
  readonly id: string;
  readonly name: string;
  /** As "en-GB". */
  readonly language: string;
  readonly description: string;
}

export interface Voices {
  readonly voices: readonly NamedVoice[];
  /** The id of the one that speaks where none is chosen. */
  readonly default: string;
}

export interface Spoken {
  readonly text: string;
  /** Empty: the server's. */
  readonly voice: string;
  readonly speed: number;
}

/** Milliseconds a recording may take to be written down. */
const PATIENCE = 60_000;

export function fetchVoices(fetch: Fetch): Promise<Answer<Voices>> {
  return ask<Voices>(fetch, "v1/audio/voices");
}

/** Languages the recogniser does not know: it said so. */
const unknown = new Set<string>();

/** `language` is a guess, the page's own: a recogniser that does not know it is asked without. */
export async function transcribe(fetch: Fetch, wav: Uint8Array<ArrayBuffer>, language: string, signal: AbortSignal): Promise<Answer<{ readonly text: string }>> {
  const form = new FormData();
  form.set("file", new Blob([wav], { type: "audio/wav" }), "dictation.wav");
  form.set("model", "default");
  form.set("response_format", "json");
  const guessed = language !== "" && !unknown.has(language);
  if (guessed) form.set("language", language);
  const answer = await ask<{ readonly text: string }>(fetch, "v1/audio/transcriptions", { method: "POST", body: form, signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]) });
  if (!guessed || answer.kind !== "refused" || answer.param !== "language") return answer;
  unknown.add(language);
  return transcribe(fetch, wav, "", signal);
}

/** Samples as they are spoken: 16-bit, 24 kHz, mono. */
export async function speak(fetch: Fetch, { text, voice, speed }: Spoken, signal: AbortSignal): Promise<Answer<ReadableStream<Uint8Array>>> {
  try {
    const response = await fetch("v1/audio/speech", {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ model: "default", input: text, voice: voice || "default", response_format: "pcm", ...(speed === 1 ? {} : { speed }) }),
      signal,
    });
    if (response.ok && response.body) return { kind: "ok", value: response.body };
    return answerOf(response.status, await response.text());
  } catch {
    return { kind: "unreachable" };
  }
}
