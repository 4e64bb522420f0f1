import { beforeEach, describe, expect, it } from "vitest";

import type { PlayoutState } from "../../../src/voice/audio/playout";
import { DEPTH, FilmSchedule, MAX_WAITING, type Picture } from "../../../src/voice/video_stream/film_schedule";
import type { EncodedFrame } from "../../../src/voice/video_stream/segment";

const RATE = 25;
const STEP = 24_000 / RATE;
const LOOP = 100;

class Drawn implements Picture {
  closed = 0;

  constructor(readonly name: string) {}

  close(): void {
    this.closed++;
  }
}

let now: number;
let film: FilmSchedule<Drawn>;
/** All pictures that were ever decoded. */
let made: Drawn[];
/** What each frame to decode is called: "rest 7", "reply 2 frame 7". */
let names: Map<EncodedFrame, string>;

const open = () => made.filter(({ closed }) => closed === 0);

beforeEach(() => {
  now = 1000;
  made = [];
  names = new Map();
  film = new FilmSchedule<Drawn>(() => now);
});

function frames(name: string, count: number, frame = 0, clock = 0): EncodedFrame[] {
  return Array.from({ length: count }, (_, number) => {
    const made = { data: new Uint8Array(10), key: number === 0, codec: "avc1", sample: (frame + number) * STEP, clock: clock + number };
    names.set(made, `${name} ${frame + number}`);
    return made;
  });
}

const rests = () => film.setLoop(frames("rest", LOOP), RATE);
const replies = (reply: number, count: number, frame = 0, clock = 50) => film.add(reply, frames(`reply ${reply} frame`, count, frame, clock + frame), RATE);
const report = (reply: number, samples: number, state: PlayoutState = "playing") => film.onReport({ reply, samples, state, level: 0 });

/** Decodes all that is due and returns the name of what is shown. */
function shown(): string | null {
  for (let due = film.due(); due.length > 0; due = film.due()) {
    for (const { ticket, frame } of due) {
      const picture = new Drawn(names.get(frame)!);
      made.push(picture);
      film.decoded(ticket, picture);
    }
  }
  return film.shown()?.name ?? null;
}

/** What is shown after so many milliseconds, in steps of a screen. */
function after(milliseconds: number): string | null {
  for (const end = now + milliseconds; now < end; ) {
    now = Math.min(end, now + 16);
    shown();
  }
  return shown();
}

describe("a face at rest", () => {
  it("has nothing to show before its loop is there", () => {
    expect(shown()).toBeNull();
  });

  it("goes around in its loop by the clock", () => {
    rests();
    expect(shown()).toBe("rest 0");
    expect(after(400)).toBe("rest 10");
    expect(after((LOOP * 1000) / RATE)).toBe("rest 10");
  });

  it("begins at the moment of the server's clock when its loop arrives late", () => {
    after(1200);
    rests();
    expect(after(16)).toBe("rest 30");
  });
});

describe("a reply", () => {
  it("shows the newest frame whose sample has played", () => {
    rests();
    replies(1, 25);
    report(1, 0);
    expect(shown()).toBe("reply 1 frame 0");
    report(1, 7.5 * STEP);
    expect(shown()).toBe("reply 1 frame 7");
    // Without a report the clock goes on for a moment, no farther.
    now += 500;
    expect(shown()).toBe("reply 1 frame 8");
  });

  it("is not shown before it is audible", () => {
    rests();
    replies(1, 25);
    report(1, 0, "buffering");
    expect(shown()).toMatch(/^rest/);
  });

  it("begins where the loop is by then, and leaves off where the loop goes on", () => {
    rests();
    after(400);
    // The server's clock is 6 frames ahead of the page's: it was asked for frame 18 while the page shows 10.
    replies(1, 50, 0, 18);
    expect(after(80)).toMatch(/^rest 1[2-4]$/);
    report(1, 0);
    shown();
    expect(film.frame).toBe(18);
    for (let at = 1; at <= 40; at++) {
      now += 40;
      report(1, at * STEP);
      shown();
    }
    expect(film.frame).toBe(58);
    report(1, 41 * STEP, "ended");
    now += 40;
    expect(shown()).toBe("rest 59");
  });

  it("stops at the frame of a hold and goes on at the same sample", () => {
    rests();
    replies(1, 50);
    report(1, 10 * STEP);
    expect(shown()).toBe("reply 1 frame 10");
    report(1, 10.2 * STEP, "held");
    expect(after(3000)).toBe("reply 1 frame 10");
    report(1, 10.2 * STEP, "buffering");
    expect(shown()).toBe("reply 1 frame 10");
    report(1, 10.2 * STEP);
    expect(shown()).toBe("reply 1 frame 10");
    report(1, 11 * STEP);
    expect(shown()).toBe("reply 1 frame 11");
  });

  it("gives way to the loop within a frame when it is dropped, and its late frames are closed", () => {
    rests();
    replies(1, 50);
    report(1, 10 * STEP);
    shown();
    const late = film.due();
    film.drop(1);
    expect(film.shown()?.name).toMatch(/^rest/);
    for (const { ticket, track } of late.filter(({ track }) => track === "lips")) {
      const picture = new Drawn(track);
      film.decoded(ticket, picture);
      expect(picture.closed).toBe(1);
    }
    replies(1, 25, 50);
    report(1, 12 * STEP);
    expect(after(40)).toMatch(/^rest/);
  });

  it("leaves nothing on the screen when it is dropped and there is no loop", () => {
    replies(1, 25);
    report(1, 0);
    expect(shown()).toBe("reply 1 frame 0");
    film.drop(1);
    expect(shown()).toBeNull();
  });

  it("rests while its sound has run dry or its pictures are late, and speaks again with the next ones", () => {
    rests();
    replies(1, 10);
    report(1, 9 * STEP);
    expect(shown()).toBe("reply 1 frame 9");
    report(1, 24 * STEP);
    expect(shown()).toMatch(/^rest/);
    replies(1, 25, 20);
    report(1, 25 * STEP);
    expect(shown()).toBe("reply 1 frame 25");
    report(1, 25 * STEP, "starved");
    expect(shown()).toBe("reply 1 frame 25");
    expect(after(400)).toMatch(/^rest/);
  });

  it("does not decode a segment whose time has passed", () => {
    replies(1, 25);
    replies(1, 25, 25);
    report(1, 30 * STEP);
    expect(shown()).toBe("reply 1 frame 30");
    expect(made.some(({ name }) => name === "reply 1 frame 3")).toBe(false);
  });

  it("is followed by the next one", () => {
    rests();
    replies(1, 5);
    replies(2, 5);
    report(1, 0);
    expect(shown()).toBe("reply 1 frame 0");
    report(1, 5 * STEP, "ended");
    report(2, 0);
    expect(shown()).toBe("reply 2 frame 0");
  });
});

describe("what is kept", () => {
  it("is bounded, and all of it is closed in the end", () => {
    rests();
    for (let second = 0; second < 60; second++) replies(1, RATE, second * RATE);
    report(1, 0);
    shown();
    expect(open().length).toBeLessThanOrEqual(2 * DEPTH + 1);
    for (let reply = 2; reply < 50; reply++) replies(reply, 5);
    // Of the first reply no more than fits was taken.
    report(1, MAX_WAITING * STEP);
    expect(after(100)).toMatch(/^rest/);
    film.clear();
    expect(open()).toEqual([]);
    expect(made.every(({ closed }) => closed === 1)).toBe(true);
  });

  it("is nothing of a loop that is too large", () => {
    film.setLoop([{ data: new Uint8Array(25 * 2 ** 20), key: true, codec: "avc1", sample: 0, clock: 0 }], RATE);
    expect(shown()).toBeNull();
  });
});

/** Numbers of 0 to 1, the same for a seed. */
function chances(seed: number): () => number {
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
}

describe("a thousand interruptions at random moments", () => {
  it("show nothing stale, never hold many pictures, and close each once", () => {
    const chance = chances(7);
    rests();
    let [reply, position, sent, dropped, spoke] = [1, 0, 0, 0, 0];
    let queue: { ticket: number; picture: Drawn }[] = [];
    for (let cancels = 0, steps = 0; cancels < 1000; steps++) {
      now += 4 + 30 * chance();
      if (chance() < 0.5 && sent < position / STEP + 50) {
        const count = 1 + Math.floor(24 * chance());
        replies(reply, count, sent, steps);
        sent += count;
      }
      const state = chance() < 0.05 ? "held" : "playing";
      if (chance() < 0.7) report(reply, (position += state === "playing" ? 400 : 0), state);
      // A report of the player that crossed the interruption.
      if (chance() < 0.1) report(dropped, position);
      for (const { ticket, frame } of film.due()) {
        const picture = new Drawn(names.get(frame)!);
        made.push(picture);
        queue.push({ ticket, picture });
      }
      // The decoder is late, by any number of frames.
      const ready = Math.floor(chance() * (queue.length + 1));
      for (const { ticket, picture } of queue.slice(0, ready)) film.decoded(ticket, picture);
      queue = queue.slice(ready);
      if (chance() < 0.15) {
        film.drop(reply);
        dropped = reply++;
        [position, sent] = [0, 0];
        cancels++;
      }
      const onScreen = film.shown();
      expect(onScreen?.closed ?? 0).toBe(0);
      const of = /^reply (\d+) frame (\d+)$/.exec(onScreen?.name ?? "");
      if (of) {
        spoke++;
        expect(Number(of[1])).toBe(reply);
        expect(Number(of[2]) * STEP).toBeLessThanOrEqual(position + 960);
      }
      expect(open().length - queue.filter(({ picture }) => picture.closed === 0).length).toBeLessThanOrEqual(2 * DEPTH + 2);
      made = made.filter(({ closed }) => closed === 0);
    }
    expect(spoke).toBeGreaterThan(1000);
    for (const { ticket, picture } of queue) film.decoded(ticket, picture);
    film.clear();
    expect(open()).toEqual([]);
  });
});
