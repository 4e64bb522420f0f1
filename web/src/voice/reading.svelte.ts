// Reading messages out: their sentences are spoken by the server one after another, the next one asked for while one is
// heard. Knows no DOM; loudspeaker and server are given to it.
import { Sentences } from "../chat/announce/sentences";
import { voice as words } from "../language/en/voice";
import { type Answer, problemOf } from "../wire/transport/http";
import type { PlayoutReport } from "./audio/playout";
import { SPOKEN_RATE, WholeSamples } from "./audio/samples";
import { InsecureSound, type Speaker } from "./audio/speaker";

export type Speech = Answer<ReadableStream<Uint8Array>>;

export interface ReadingMeans {
  readonly speaker: (reported: (report: PlayoutReport) => void) => Promise<Speaker>;
  readonly speech: (text: string, signal: AbortSignal) => Promise<Speech>;
  readonly reportProblem: (sentence: string) => void;
  readonly ended: () => void;
}

/** Samples that are asked for ahead of what is heard. */
const AHEAD = 20 * SPOKEN_RATE;
/** Characters of one request, after the first: few requests, and none that takes long. */
const MOST = 400;

export class Reading {
  readonly #means: ReadingMeans;
  readonly #stopping = new AbortController();
  #id = $state.raw<string | null>(null);
  #sentences: Sentences | null = null;
  #texts: string[] = [];
  #complete = false;
  #speaker: Speaker | null = null;
  #working = false;
  #over = false;
  /** Each request is a reply of its own to the loudspeaker. */
  #number = 0;
  #sent = new Map<number, number>();
  #heard = new Map<number, number>();
  #wake: (() => void) | null = null;

  constructor(means: ReadingMeans) {
    this.#means = means;
  }

  /** The message that is read. */
  get id(): string | null {
    return this.#id;
  }

  say(id: string, text: string): void {
    this.follow(id, text, true);
  }

  /** All of a message so far; `ended`: nothing follows. Another message takes the place of the one before. */
  follow(id: string, text: string, ended: boolean): void {
    if (this.#over || (this.#id === id && this.#complete)) return;
    if (this.#id !== id) this.#turn(id);
    const said = this.#sentences!.next(text, ended);
    if (said !== "") this.#texts.push(said);
    this.#complete = ended;
    this.#wake?.();
    if (!this.#working) void this.#work();
  }

  stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#id = null;
    this.#stopping.abort();
    this.#wake?.();
    for (const reply of this.#unheard()) this.#speaker?.play({ kind: "drop", reply });
    this.#speaker?.stop();
    this.#means.ended();
  }

  #turn(id: string): void {
    this.#id = id;
    this.#sentences = new Sentences(() => words().codeBlock);
    this.#texts = [];
    this.#complete = false;
    for (const reply of this.#unheard()) this.#speaker?.play({ kind: "drop", reply });
  }

  #unheard(): number[] {
    return [...this.#sent.keys()];
  }

  async #work(): Promise<void> {
    this.#working = true;
    try {
      this.#speaker ??= await this.#means.speaker((report) => this.#reported(report));
    } catch (error) {
      this.#means.reportProblem(error instanceof InsecureSound ? words().insecureSound : words().noSound);
      return this.stop();
    }
    while (!this.#over) {
      const text = this.#next();
      if (text !== null) await this.#speak(text, this.#id);
      else if (this.#complete && this.#sent.size === 0) return this.stop();
      else await this.#change();
    }
  }

  /** What to ask for next: the first sentence alone, so that it is heard soon. */
  #next(): string | null {
    let text = this.#texts.shift() ?? null;
    while (text !== null && this.#number > 0 && this.#texts.length > 0 && text.length + this.#texts[0]!.length < MOST) text += ` ${this.#texts.shift()!}`;
    return text;
  }

  async #speak(text: string, id: string | null): Promise<void> {
    const answer = await this.#means.speech(text, this.#stopping.signal);
    if (this.#over || this.#id !== id) return;
    if (answer.kind !== "ok") {
      this.#means.reportProblem(problemOf(answer));
      return this.stop();
    }
    const reply = ++this.#number;
    const whole = new WholeSamples();
    this.#sent.set(reply, 0);
    this.#speaker!.play({ kind: "begin", reply });
    const reader = answer.value.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || this.#over || this.#id !== id) break;
        const pcm = whole.push(value);
        this.#sent.set(reply, (this.#sent.get(reply) ?? 0) + pcm.length);
        this.#speaker!.play({ kind: "push", reply, pcm });
        while (!this.#over && this.#id === id && this.#ahead() > AHEAD) await this.#change();
      }
    } catch {
      if (!this.#over) this.#means.reportProblem(words().speechBroke);
    }
    void reader.cancel().catch(() => {});
    if (!this.#over && this.#id === id) this.#speaker!.play({ kind: "end", reply });
    else this.#sent.delete(reply);
  }

  #ahead(): number {
    let ahead = 0;
    for (const [reply, samples] of this.#sent) ahead += samples - (this.#heard.get(reply) ?? 0);
    return ahead;
  }

  #reported({ reply, samples, state }: PlayoutReport): void {
    this.#heard.set(reply, samples);
    if (state === "ended" || state === "dropped") {
      this.#sent.delete(reply);
      this.#heard.delete(reply);
    }
    this.#wake?.();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null;
        resolve();
      };
    });
  }
}
