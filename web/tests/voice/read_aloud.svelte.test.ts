import { beforeEach, describe, expect, it, vi } from "vitest";

vi.mock("../../src/voice/audio/playout.worklet?worker&url", () => ({ default: "playout.js" }));

import type { PlayoutReport } from "../../src/voice/audio/playout";
import { ReadAloud, type Speech } from "../../src/voice/read_aloud.svelte";
import { InsecureContextError } from "../../src/voice/audio/speaker";
import { settle } from "../server";

let requests: string[];
let done: string[];
let report: (report: PlayoutReport) => void;
let answers: Speech[];
let reading: ReadAloud;
let insecure: boolean;

const sound = (samples: number): Speech => ({
  kind: "ok",
  value: new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(2 * samples));
      controller.close();
    },
  }),
});

beforeEach(() => {
  [requests, done, answers, insecure] = [[], [], [], false];
  reading = new ReadAloud({
    async speaker(reported) {
      if (insecure) throw new InsecureContextError();
      report = reported;
      return {
        play: (order) => void done.push("pcm" in order ? `push ${order.reply} ${order.pcm.length}` : "reply" in order ? `${order.kind} ${order.reply}` : ""),
        stop: () => done.push("dumb"),
      };
    },
    async speech(text, _signal, onMouth) {
      requests.push(text);
      onMouth([
        [0, 80, 0, 0, 0, 0],
        [2400, 80, 0, 0, 0, 0],
      ]);
      return answers.shift() ?? sound(2400);
    },
    reportProblem: (sentence) => done.push(sentence),
    onEnd: () => done.push("ended"),
  });
});

const heard = (reply: number, samples = 2400) => report({ reply, samples, state: "ended", level: 0 });

describe("reading out", () => {
  it("has the mouth of what is audible, and closes it when it is stopped", async () => {
    reading.read("m1", "Hello there.");
    await settle();
    expect(reading.lips.mouth().open).toBe(0);
    report({ reply: 1, samples: 1200, state: "playing", level: 0.5 });
    expect(reading.lips.mouth().open).toBe(0.8);
    reading.stop();
    await vi.waitFor(() => expect(reading.lips.mouth().open).toBe(0));
  });

  it("speaks a message and is over when it was heard", async () => {
    reading.read("m1", "**Hello** there. How are you?");
    expect(reading.id).toBe("m1");
    await settle();
    expect(requests).toEqual(["Hello there. How are you?"]);
    expect(done).toEqual(["begin 1", "push 1 2400", "end 1"]);
    heard(1);
    await settle();
    expect(done.slice(3)).toEqual(["dumb", "ended"]);
    expect(reading.id).toBe(null);
  });

  it("follows a reply that is being written, sentence by sentence, and says code in a word", async () => {
    reading.follow("m1", "First one. And th", false);
    await settle();
    reading.follow("m1", "First one. And then a second one.\n```js\nlet a;\n```\nThird.", false);
    await settle();
    reading.follow("m1", "First one. And then a second one.\n```js\nlet a;\n```\nThird. End", true);
    await settle();
    expect(requests[0]).toBe("First one.");
    expect(requests.join(" ")).toContain("And then a second one.");
    expect(requests.at(-1)).toContain("End");
    for (let reply = 1; reply <= requests.length; reply++) heard(reply);
    await settle();
    expect(done.at(-1)).toBe("ended");
  });

  it("asks for no more than is soon heard", async () => {
    answers = [sound(24000 * 30)];
    reading.follow("m1", "A long one. ", false);
    await settle();
    reading.follow("m1", "A long one. Then another. ", false);
    await settle();
    expect(requests.length).toBe(1);
    report({ reply: 1, samples: 24000 * 15, state: "playing", level: 0 });
    await settle();
    expect(requests.length).toBe(2);
  });

  it("stops at once", async () => {
    reading.read("m1", "Hello there.");
    await settle();
    reading.stop();
    expect(done.slice(-3)).toEqual(["drop 1", "dumb", "ended"]);
    reading.read("m1", "Hello again.");
    await settle();
    expect(requests.length).toBe(1);
  });

  it("leaves one message for another", async () => {
    reading.read("m1", "Hello there.");
    await settle();
    reading.read("m2", "Something else.");
    await settle();
    expect(done).toContain("drop 1");
    expect([reading.id, requests.at(-1)]).toEqual(["m2", "Something else."]);
  });

  it("says why the server will not", async () => {
    answers = [{ kind: "refused", message: "No voice.", code: "", status: 503 }];
    reading.read("m1", "Hello.");
    await settle();
    expect(done).toEqual(["No voice.", "dumb", "ended"]);
  });

  it("on a page that came over plain http says so, and names what helps", async () => {
    insecure = true;
    reading.read("m1", "Hello.");
    await settle();
    expect(done[0]).toContain("--tls");
    expect(done.at(-1)).toBe("ended");
  });

  it("with nothing to say is over", async () => {
    reading.read("m1", "***");
    await settle();
    expect(done).toEqual(["dumb", "ended"]);
  });
});
