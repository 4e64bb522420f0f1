// Speech over HTTP: transcription, synthesis, and the list of voices.
import type { MouthKey } from "../../voice/face/mouth";
import { type Answer, answerOf, type Fetch, request } from "../transport/http";
import { soundOf } from "./speech_events";

export interface NamedVoice {
  readonly id: string;
  readonly name: string;
  /** BCP 47, such as "en-GB". */
  readonly language: string;
  readonly description: string;
}

export interface Voices {
  readonly voices: readonly NamedVoice[];
  /** Voices that people recorded: the user's, and those shared with everyone. */
  readonly custom?: readonly { readonly id: string; readonly name: string }[];
  /** Id of the default voice. */
  readonly default: string;
}

export interface SpeechRequest {
  readonly text: string;
  /** Voice id; empty: the server's default. */
  readonly voice: string;
  readonly speed: number;
}

/** Transcription may take this long, milliseconds. */
const TIMEOUT_MS = 60_000;

export function fetchVoices(fetch: Fetch): Promise<Answer<Voices>> {
  return request<Voices>(fetch, "v1/audio/voices");
}

/** Languages the recogniser has rejected; later requests omit them. */
const unsupportedLanguages = new Set<string>();

/** `language` is only the page's guess: if the recogniser does not support it, the request is repeated without it. */
export async function transcribe(fetch: Fetch, wav: Uint8Array<ArrayBuffer>, language: string, signal: AbortSignal): Promise<Answer<{ readonly text: string }>> {
  const form = new FormData();
  form.set("file", new Blob([wav], { type: "audio/wav" }), "dictation.wav");
  form.set("model", "default");
  form.set("response_format", "json");
  const sendLanguage = language !== "" && !unsupportedLanguages.has(language);
  if (sendLanguage) form.set("language", language);
  const answer = await request<{ readonly text: string }>(fetch, "v1/audio/transcriptions", { method: "POST", body: form, signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) });
  if (!sendLanguage || answer.kind !== "refused" || answer.param !== "language") return answer;
  unsupportedLanguages.add(language);
  return transcribe(fetch, wav, "", signal);
}

/** Who is told of what comes beside the sound. */
export interface SpeechListener {
  /** The voice that is gone. */
  readonly onReplaced?: (voice: string) => void;
  /** Keys of the mouth that says it, in samples of the sound. Without it they are not asked for. */
  readonly onMouth?: (keys: readonly MouthKey[]) => void;
}

/** 16-bit PCM, 24 kHz, mono, streamed. A voice that went with a voice pack is replaced by the server's default. */
export async function synthesise(fetch: Fetch, { text, voice, speed }: SpeechRequest, signal: AbortSignal, listener: SpeechListener = {}): Promise<Answer<ReadableStream<Uint8Array>>> {
  const { onReplaced, onMouth } = listener;
  try {
    const response = await fetch("v1/audio/speech", {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ model: "default", input: text, voice: voice || "default", response_format: "pcm", ...(speed === 1 ? {} : { speed }), ...(onMouth ? { stream_format: "sse", mouth: true } : {}) }),
      signal,
    });
    if (response.ok && response.body) {
      const inEvents = response.headers.get("Content-Type")?.startsWith("text/event-stream") ?? false;
      return { kind: "ok", value: onMouth && inEvents ? soundOf(response.body, onMouth) : response.body };
    }
    const answer = answerOf<ReadableStream<Uint8Array>>(response.status, await response.text());
    if (voice === "" || answer.kind !== "refused" || answer.code !== "voice_not_found") return answer;
    onReplaced?.(voice);
    return await synthesise(fetch, { text, voice: "", speed }, signal, onMouth ? { onMouth } : {});
  } catch {
    return { kind: "unreachable" };
  }
}
