import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { StreamedFilm } from "../../../src/voice/video_stream/streamed_film";
import type { VideoSegment } from "../../../src/voice/video_stream/segment";

const RATE = 25;

class Picture {
  open = true;

  constructor(readonly timestamp: number) {}

  close(): void {
    this.open = false;
  }
}

/** Decodes everything at once, and refuses data that begins with "!". */
class Decoder {
  static all: Decoder[] = [];
  state = "configured";
  codecs: string[] = [];
  pictures: Picture[] = [];

  constructor(readonly callbacks: { output: (picture: Picture) => void; error: () => void }) {
    Decoder.all.push(this);
  }

  configure({ codec }: { codec: string }): void {
    this.codecs.push(codec);
  }

  decode({ timestamp, data }: { timestamp: number; data: Uint8Array }): void {
    if (this.state === "closed") throw new Error("closed");
    if (data[0] === "!".charCodeAt(0)) return this.callbacks.error();
    const picture = new Picture(timestamp);
    this.pictures.push(picture);
    this.callbacks.output(picture);
  }

  close(): void {
    this.state = "closed";
  }
}

let now: number;
let film: StreamedFilm;
let steps: Map<number, () => void>;
let lives: boolean[];
let canvas: { clientWidth: number; width: number; height: number; dataset: Record<string, string>; drawn: unknown[]; getContext: () => unknown };

const segment = (frames: number, { at = 0, first = 0, letter = "a", codec = "avc1.64001E" } = {}): VideoSegment => ({
  at,
  first,
  rate: RATE,
  codec,
  sizes: Array.from({ length: frames }, () => 1),
  data: btoa(letter.repeat(frames)),
});
const report = (reply: number, samples: number) => film.onReport({ reply, samples, state: "playing", level: 0 });
const pictures = () => Decoder.all.flatMap((decoder) => decoder.pictures);

/** One frame of the screen; what it shows. */
function frame(ms = 0): string | undefined {
  now += ms;
  const due = [...steps.values()];
  steps.clear();
  for (const step of due) step();
  return canvas.dataset["shows"];
}

beforeEach(() => {
  now = 1000;
  steps = new Map();
  lives = [];
  Decoder.all = [];
  let requests = 0;
  vi.stubGlobal("VideoDecoder", Decoder);
  vi.stubGlobal("EncodedVideoChunk", class { constructor(chunk: object) { Object.assign(this, chunk); } });
  vi.stubGlobal("devicePixelRatio", 2);
  vi.stubGlobal("requestAnimationFrame", (step: () => void) => (steps.set(++requests, step), requests));
  vi.stubGlobal("cancelAnimationFrame", (request: number) => steps.delete(request));
  canvas = { clientWidth: 50, width: 0, height: 0, dataset: {}, drawn: [], getContext: () => ({ drawImage: (picture: unknown) => canvas.drawn.push(picture) }) };
  film = new StreamedFilm({ id: "mira", kind: "drawn" }, () => now);
  film.attach(canvas as unknown as HTMLCanvasElement, (live) => lives.push(live));
});

afterEach(() => vi.unstubAllGlobals());

it("the face at rest is decoded and drawn in the size of the canvas", () => {
  expect(frame()).toBe("nothing");
  film.add(null, segment(50));
  expect(frame()).toBe("rest");
  expect([canvas.width, canvas.height]).toEqual([100, 100]);
  expect(canvas.drawn).toHaveLength(1);
  expect(lives).toEqual([true]);
});

it("the lips of the reply that is audible are shown until it is dropped, and nothing of it after", () => {
  film.add(null, segment(50));
  frame();
  film.add(1, segment(50, { first: 50 }));
  report(1, 0);
  expect(frame()).toBe("reply");
  report(1, 4 * 960);
  expect(frame(160)).toBe("reply");
  film.drop(1);
  // What was on its way when the reply was interrupted.
  film.add(1, segment(25, { at: 48_000, first: 100 }));
  report(1, 5 * 960);
  for (let passed = 0; passed < 20; passed++) expect(frame(40)).not.toBe("reply");
});

it("a decoder of its own for the reply and for the rest, configured again for another codec", () => {
  film.add(null, segment(50));
  film.add(1, segment(3, { first: 50 }));
  report(1, 0);
  frame();
  film.add(1, segment(3, { at: 3 * 960, first: 53, codec: "avc1.42E01E" }));
  report(1, 3 * 960);
  frame(120);
  expect(Decoder.all.map(({ codecs }) => codecs.length).sort()).toEqual([1, 2]);
});

it("video that the browser cannot decode leaves nothing to see, and no picture open", () => {
  film.add(null, segment(50));
  frame();
  film.add(1, segment(3, { first: 50, letter: "!" }));
  report(1, 0);
  frame(40);
  expect(frame(40)).toBe("nothing");
  expect(lives).toEqual([true, false]);
  expect(Decoder.all.every(({ state }) => state === "closed")).toBe(true);
  expect(pictures().filter(({ open }) => open)).toEqual([]);
  film.add(null, segment(50));
  expect(frame(40) ?? "nothing").toBe("nothing");
});

it("a film that is closed holds no picture and asks for no frame of the screen", () => {
  film.add(null, segment(50));
  frame();
  film.close();
  expect(frame()).toBe("nothing");
  expect(steps.size).toBe(0);
  expect(pictures().filter(({ open }) => open)).toEqual([]);
});
