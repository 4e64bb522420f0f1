// Reads messages aloud: the server synthesises sentence by sentence, the next one while one is playing. No DOM.
import { Sentences } from "../chat/announce/sentences";
import { voice as words } from "../language/en/voice/voice";
import { type Answer, problemOf } from "../wire/transport/http";
import type { PlayoutReport } from "./audio/playout";
import { OUTPUT_RATE, SampleAligner } from "./audio/samples";
import { InsecureContextError, type Speaker } from "./audio/speaker";
import { Lips } from "./face/lips";
import type { MouthKey } from "./face/mouth";

export type Speech = Answer<ReadableStream<Uint8Array>>;

export interface ReadAloudDependencies {
  readonly speaker: (onReport: (report: PlayoutReport) => void) => Promise<Speaker>;
  /** `onMouth`: keys of the mouth, while the answer's sound is read. */
  readonly speech: (text: string, signal: AbortSignal, onMouth: (keys: readonly MouthKey[]) => void) => Promise<Speech>;
  readonly reportProblem: (sentence: string) => void;
  readonly onEnd: () => void;
}

/** Samples requested ahead of what is being played. */
const MAX_AHEAD = 20 * OUTPUT_RATE;
/** Characters of one request after the first: few requests, none of which takes long. */
const MAX_REQUEST = 400;

export class ReadAloud {
  readonly #deps: ReadAloudDependencies;
  readonly #abort = new AbortController();
  /** The mouth of what is audible, for a face. */
  readonly lips = new Lips(() => performance.now());
  #id = $state.raw<string | null>(null);
  #sentences: Sentences | null = null;
  #texts: string[] = [];
  #complete = false;
  #speaker: Speaker | null = null;
  #running = false;
  #stopped = false;
  /** Each request is played as a reply of its own. */
  #number = 0;
  #sent = new Map<number, number>();
  #heard = new Map<number, number>();
  #notify: (() => void) | null = null;

  constructor(deps: ReadAloudDependencies) {
    this.#deps = deps;
  }

  /** Id of the message being read. */
  get id(): string | null {
    return this.#id;
  }

  read(id: string, text: string): void {
    this.follow(id, text, true);
  }

  /** Reads a growing message; `text` is all of it so far, `complete` that it is finished. Replaces another message. */
  follow(id: string, text: string, complete: boolean): void {
    if (this.#stopped || (this.#id === id && this.#complete)) return;
    if (this.#id !== id) this.#switchTo(id);
    const sentence = this.#sentences!.next(text, complete);
    if (sentence !== "") this.#texts.push(sentence);
    this.#complete = complete;
    this.#notify?.();
    if (!this.#running) void this.#run();
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#id = null;
    this.lips.reset();
    this.#abort.abort();
    this.#notify?.();
    for (const reply of this.#pendingReplies()) this.#speaker?.play({ kind: "drop", reply });
    this.#speaker?.stop();
    this.#deps.onEnd();
  }

  #switchTo(id: string): void {
    this.#id = id;
    this.#sentences = new Sentences(() => words().codeBlock);
    this.#texts = [];
    this.#complete = false;
    for (const reply of this.#pendingReplies()) this.#speaker?.play({ kind: "drop", reply });
  }

  #pendingReplies(): number[] {
    return [...this.#sent.keys()];
  }

  async #run(): Promise<void> {
    this.#running = true;
    try {
      this.#speaker ??= await this.#deps.speaker((report) => this.#onReport(report));
    } catch (error) {
      this.#deps.reportProblem(error instanceof InsecureContextError ? words().insecureSound : words().noSound);
      return this.stop();
    }
    while (!this.#stopped) {
      const text = this.#next();
      if (text !== null) await this.#speak(text, this.#id);
      else if (this.#complete && this.#sent.size === 0) return this.stop();
      else await this.#nextChange();
    }
  }

  /** The text of the next request: at first a single sentence, so that playback starts soon. */
  #next(): string | null {
    let text = this.#texts.shift() ?? null;
    while (text !== null && this.#number > 0 && this.#texts.length > 0 && text.length + this.#texts[0]!.length < MAX_REQUEST) text += ` ${this.#texts.shift()!}`;
    return text;
  }

  async #speak(text: string, id: string | null): Promise<void> {
    const reply = ++this.#number;
    const answer = await this.#deps.speech(text, this.#abort.signal, (keys) => this.lips.add(reply, keys));
    if (this.#stopped || this.#id !== id) return;
    if (answer.kind !== "ok") {
      this.#deps.reportProblem(problemOf(answer));
      return this.stop();
    }
    const aligner = new SampleAligner();
    this.#sent.set(reply, 0);
    this.#speaker!.play({ kind: "begin", reply });
    const reader = answer.value.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || this.#stopped || this.#id !== id) break;
        const pcm = aligner.push(value);
        this.#sent.set(reply, (this.#sent.get(reply) ?? 0) + pcm.length);
        this.#speaker!.play({ kind: "push", reply, pcm });
        while (!this.#stopped && this.#id === id && this.#ahead() > MAX_AHEAD) await this.#nextChange();
      }
    } catch {
      if (!this.#stopped) this.#deps.reportProblem(words().speechBroke);
    }
    void reader.cancel().catch(() => {});
    if (!this.#stopped && this.#id === id) this.#speaker!.play({ kind: "end", reply });
    else this.#sent.delete(reply);
  }

  #ahead(): number {
    let ahead = 0;
    for (const [reply, samples] of this.#sent) ahead += samples - (this.#heard.get(reply) ?? 0);
    return ahead;
  }

  #onReport(report: PlayoutReport): void {
    const { reply, samples, state } = report;
    this.lips.onReport(report);
    this.#heard.set(reply, samples);
    if (state === "ended" || state === "dropped") {
      this.#sent.delete(reply);
      this.#heard.delete(reply);
    }
    this.#notify?.();
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#notify = () => {
        this.#notify = null;
        resolve();
      };
    });
  }
}
