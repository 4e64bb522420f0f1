// The voices that people recorded, as the server keeps them: listed, added with consent, changed, deleted.
import { type Answer, type Fetch, request, sendJson } from "../transport/http";

export interface OwnVoice {
  readonly id: string;
  readonly name: string;
  readonly duration_ms: number;
  /** Of this user; another one's is here because it is shared. */
  readonly own: boolean;
  readonly shared: boolean;
  /** What is said in the recording; absent for voices of others. */
  readonly text?: string;
}

export interface OwnVoicesList {
  readonly ref_audios: readonly OwnVoice[];
  /** Whether the loaded speaker can imitate recordings; null while it loads. */
  readonly clones: boolean | null;
}

export interface NewVoice {
  readonly name: string;
  readonly recording: Blob;
  /** The wording that was agreed to. */
  readonly consent: string;
}

export interface VoiceChange {
  readonly name?: string;
  readonly text?: string;
  readonly shared?: boolean;
}

const PLACE = "api/assets/ref_audio";
/** An upload and a transcription may take this long, milliseconds. */
const TIMEOUT_MS = 60_000;

export class OwnVoicesClient {
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  list(): Promise<Answer<OwnVoicesList>> {
    return request(this.#fetch, PLACE);
  }

  add({ name, recording, consent }: NewVoice): Promise<Answer<OwnVoice>> {
    const form = new FormData();
    form.set("file", recording, "voice");
    form.set("name", name);
    form.set("consent", consent);
    return request(this.#fetch, PLACE, { method: "POST", body: form, signal: AbortSignal.timeout(TIMEOUT_MS) });
  }

  change(id: string, change: VoiceChange): Promise<Answer<OwnVoice>> {
    return sendJson(this.#fetch, "PATCH", `${PLACE}/${encodeURIComponent(id)}`, change);
  }

  /** Has the recogniser write down what is said in the recording. */
  transcribe(id: string): Promise<Answer<OwnVoice>> {
    return sendJson(this.#fetch, "POST", `${PLACE}/${encodeURIComponent(id)}/transcript`, undefined, TIMEOUT_MS);
  }

  remove(id: string): Promise<Answer<unknown>> {
    return sendJson(this.#fetch, "DELETE", `${PLACE}/${encodeURIComponent(id)}`);
  }
}

/** The address of a recording. */
export function recordingAddress(id: string): string {
  return `${PLACE}/${encodeURIComponent(id)}/audio`;
}
