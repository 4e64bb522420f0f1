// The recordings screen: the list, and the recording that is open. Owns loading and deleting.
import { problemOf } from "../wire/transport/http";
import type { Recording, RecordingList, RecordingRow, RecordingsClient, Waveform } from "../wire/voice/recordings";

const BINS = 240;

export interface OpenRecording {
  readonly row: RecordingRow;
  readonly recording: Recording;
  readonly waveform: Waveform;
}

export class Recordings {
  readonly #client: RecordingsClient;
  #list = $state.raw<RecordingList | null>(null);
  #open = $state.raw<OpenRecording | null>(null);
  #problem = $state("");
  #opening = "";

  constructor(client: RecordingsClient) {
    this.#client = client;
  }

  get list(): RecordingList | null {
    return this.#list;
  }

  get open(): OpenRecording | null {
    return this.#open;
  }

  get problem(): string {
    return this.#problem;
  }

  async load(): Promise<void> {
    const answer = await this.#client.list();
    this.#problem = problemOf(answer);
    if (answer.kind === "ok") this.#list = answer.value;
  }

  /** Opens a recording, or closes it if it is the open one. */
  async toggle(row: RecordingRow): Promise<void> {
    const same = this.#open?.row.id === row.id;
    this.#open = null;
    this.#opening = same ? "" : row.id;
    if (same) return;
    const [recording, waveform] = await Promise.all([this.#client.open(row.id), this.#client.waveform(row.id, BINS)]);
    if (this.#opening !== row.id) return;
    this.#problem = problemOf(recording) || problemOf(waveform);
    if (recording.kind === "ok" && waveform.kind === "ok") this.#open = { row, recording: recording.value, waveform: waveform.value };
  }

  async remove(row: RecordingRow): Promise<void> {
    const problem = problemOf(await this.#client.remove(row.id));
    if (this.#open?.row.id === row.id) this.#open = null;
    await this.load();
    if (problem !== "") this.#problem = problem;
  }
}
