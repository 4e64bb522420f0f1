// The voice the user once chose, which may have gone with its voice pack. Then the server's default speaks, and the page says
// so once. Used by calls and reading aloud; no DOM.
import type { Fetch } from "../wire/transport/http";
import { fetchVoices } from "../wire/voice/speech";

export interface StoredVoiceDependencies {
  readonly fetch: Fetch;
  /** The stored choice; empty: the server's default. */
  readonly chosen: () => string;
  /** Says that the default voice speaks instead of this one. */
  readonly sayReplaced: (voice: string) => void;
}

export class StoredVoice {
  readonly #deps: StoredVoiceDependencies;
  #said = "";

  constructor(deps: StoredVoiceDependencies) {
    this.#deps = deps;
  }

  get chosen(): string {
    return this.#deps.chosen();
  }

  /** The voice to begin a call with: the chosen one if the server still has it, else empty. A call cannot be begun again for
   * another voice, so the server is asked before. */
  async usable(): Promise<string> {
    const voice = this.chosen;
    if (voice === "") return "";
    const answer = await fetchVoices(this.#deps.fetch);
    if (answer.kind !== "ok" || answer.value.voices.length === 0) return voice;
    const { voices, custom = [] } = answer.value;
    if ([...voices, ...custom].some(({ id }) => id === voice)) return voice;
    this.onReplaced(voice);
    return "";
  }

  /** The server has spoken with its default voice instead. */
  onReplaced(voice: string): void {
    if (this.#said === voice) return;
    this.#said = voice;
    this.#deps.sayReplaced(voice);
  }
}
