import { beforeEach, describe, expect, it, vi } from "vitest";

vi.mock("../../../src/voice/audio/capture.worklet?worker&url", () => ({ default: "capture.js" }));

import { Call, type CallMeans } from "../../../src/voice/call/call.svelte";
import type { LineListener } from "../../../src/voice/call/line";
import { type MicrophoneListener, NoMicrophone } from "../../../src/voice/audio/microphone";
import type { PlayoutReport } from "../../../src/voice/audio/playout";
import { FakeClock } from "../../clock";
import { calm } from "../../server";

/** The other end of the line, as a test scripts it. */
class Server {
  readonly said: any[] = [];
  sound = 0;
  closed = false;

  constructor(readonly listener: LineListener) {}

  says(type: string, fields: object = {}, epoch = 0): void {
    this.listener.said(JSON.stringify({ type, epoch, ...fields }));
  }

  /** A reply's sound, so many frames of 20 ms. */
  speaks(reply: number, frames = 5, chunk = 0): void {
    this.says("status", { state: "speaking" });
    this.says("audio_start", { reply_id: reply, chunk_id: chunk });
    for (let frame = 0; frame < frames; frame++) this.listener.sounded(new Int16Array(480));
  }

  types(): string[] {
    return this.said.map(({ type }) => type);
  }
}

let clock: FakeClock;
let servers: Server[];
let done: string[];
let ears: MicrophoneListener;
let report: (report: PlayoutReport) => void;
let refusal: NoMicrophone | null;
let wanted: Awaited<ReturnType<CallMeans["wanted"]>>;
let call: Call;

const server = () => servers.at(-1)!;

beforeEach(() => {
  clock = new FakeClock();
  servers = [];
  done = [];
  refusal = null;
  wanted = { conversation: "c1", model: "", voice: "v", speed: 1, language: "" };
  call = new Call(means());
});

function means(): CallMeans {
  return {
    open(listener) {
      const made = new Server(listener);
      servers.push(made);
      return {
        say: (text) => made.said.push(JSON.parse(text)),
        sound: (pcm) => (made.sound += pcm.length),
        close: () => (made.closed = true),
      };
    },
    async microphone({ device }, listener) {
      if (refusal) throw refusal;
      ears = listener;
      done.push(`listen ${device}`);
      return { device: device || "first", mute: (muted) => done.push(`mute ${muted}`), stop: () => done.push("deaf") };
    },
    async speaker(reported) {
      report = reported;
      return { play: (order) => "reply" in order && order.kind !== "push" && done.push(`${order.kind} ${order.reply}`), stop: () => done.push("dumb") };
    },
    microphones: async () => [{ id: "first", label: "One" }],
    outputs: { list: async () => [{ id: "box", label: "Box" }], chosen: () => "", use: async (device) => (done.push(`sound ${device}`), device !== "gone") },
    awake: () => (done.push("awake"), () => done.push("asleep")),
    changed: () => done.push("changed"),
    release: () => done.push("released"),
    clock,
    wanted: async () => wanted,
    choice: () => ({ device: "", cleaned: true }),
    chosen: (device) => done.push(`chosen ${device}`),
    held: (holds) => done.push(`holds ${holds}`),
    ended: () => done.push("ended"),
  };
}

async function connected(): Promise<void> {
  await call.begin();
  server().listener.opened();
  server().says("status", { state: "listening" });
}

describe("a call", () => {
  it("asks for the microphone, dials, says how it is to be and is live when the server is there", async () => {
    expect(call.phase).toBe("beginning");
    await call.begin();
    expect(done[0]).toBe("listen ");
    expect(call.phase).toBe("beginning");
    server().listener.opened();
    expect(server().said[0]).toMatchObject({ type: "start", features: ["pause", "played"], conversation_id: "c1", voice: "v" });
    server().says("status", { state: "listening" });
    expect([call.phase, call.state, call.conversation]).toEqual(["live", "listening", "c1"]);
    await calm();
    expect(call.devices).toEqual([{ id: "first", label: "One" }]);
  });

  it("sends what is heard, from the moment it is live", async () => {
    await call.begin();
    ears.heard({ pcm: new Int16Array(320), level: 0.2 });
    server().listener.opened();
    server().says("status", { state: "listening" });
    ears.heard({ pcm: new Int16Array(320), level: 0.3 });
    expect(server().sound).toBe(320);
    expect(call.volume.in).toBe(0.3);
  });

  it("shows where it is, in the queue too", async () => {
    await connected();
    server().says("status", { state: "waiting" });
    server().says("queued", { position: 2, estimated_wait_s: 30 });
    expect([call.state, call.place]).toEqual(["waiting", { position: 2, wait: 30 }]);
    server().says("queue_done");
    for (const state of ["hearing", "thinking", "speaking", "paused", "listening"]) {
      server().says("status", { state });
      expect([call.state, call.place]).toEqual([state, null]);
    }
  });

  it("plays what comes, tells what was heard, and knows the word", async () => {
    await connected();
    server().speaks(1);
    report({ reply: 1, samples: 4800, state: "playing", level: 0.5 });
    expect(done).toContain("begin 1");
    expect(server().said.at(-1)).toEqual({ type: "played", reply_id: 1, samples: 4800 });
    expect([call.heard(1), call.heard(2), call.volume.out]).toEqual([200, 0, 0.5]);
  });

  it("has the captions of both sides", async () => {
    await connected();
    server().says("transcript", { turn: 1, text: "what is", final: false });
    server().says("transcript", { turn: 1, text: "what is it", final: true });
    server().says("response_text", { reply_id: 1, text: "It is", final: false });
    server().says("caption", { reply_id: 1, words: [{ text: "It", start_ms: 0, end_ms: 100 }] });
    server().says("reply_done", { reply_id: 1, text: "It", unheard: " is", ending: "interrupted" });
    expect(call.lines).toMatchObject([
      { side: "user", text: "what is it", final: true },
      { side: "reply", text: "It", unheard: " is", ending: "interrupted" },
    ]);
    expect(call.anything).toBe(true);
  });

  it("lets by what it does not know and what is stale", async () => {
    await connected();
    server().listener.said("nonsense");
    server().says("video_mode", { enabled: false });
    server().says("interrupt", { reply_id: 1 }, 2);
    server().says("status", { state: "speaking" }, 1);
    server().says("response_text", { reply_id: 1, text: "old" }, 1);
    expect([call.state, call.lines]).toEqual(["listening", []]);
  });
});

describe("interrupting", () => {
  it("is silent at once and tells how far it was heard", async () => {
    await connected();
    server().speaks(3, 5, 20);
    report({ reply: 3, samples: 500, state: "playing", level: 0.5 });
    expect(call.interruptible).toBe(true);
    call.interrupt();
    expect(done.at(-1)).toBe("drop 3");
    expect(server().said.at(-1)).toEqual({ type: "interrupt", reply_id: 3, samples: 500, last_chunk_id: 21 });
    expect(call.volume.out).toBe(0);
  });

  it("is for a reply that is thought of or spoken, and for nothing else", async () => {
    expect(call.interruptible).toBe(false);
    await connected();
    expect(call.interruptible).toBe(false);
    server().says("status", { state: "thinking" });
    expect(call.interruptible).toBe(true);
    call.interrupt();
    expect(server().said.at(-1)).toEqual({ type: "interrupt" });
  });

  it("by the server holds, goes on or drops", async () => {
    await connected();
    server().speaks(1);
    server().says("pause", { reply_id: 1 });
    server().says("resume", { reply_id: 1 });
    server().says("pause", { reply_id: 1 });
    server().says("interrupt", { reply_id: 1 }, 1);
    expect(done.slice(-5)).toEqual(["begin 1", "hold 1", "resume 1", "hold 1", "drop 1"]);
  });
});

describe("muting", () => {
  it("turns the microphone's sound to silence, and back", async () => {
    await connected();
    call.mute();
    expect([call.muted, done.at(-1)]).toEqual([true, "mute true"]);
    call.mute();
    expect([call.muted, done.at(-1)]).toEqual([false, "mute false"]);
  });
});

describe("holding to talk", () => {
  beforeEach(() => {
    call = new Call(means(), true);
  });

  it("hears only while the button is down, and says when it is", async () => {
    await connected();
    expect(done.filter((deed) => deed.startsWith("mute")).at(-1)).toBe("mute true");
    call.press(true);
    call.press(true);
    expect([call.pressed, done.at(-1)]).toEqual([true, "mute false"]);
    call.press(false);
    expect(done.at(-1)).toBe("mute true");
    expect(server().said.slice(1)).toEqual([
      { type: "hold", down: true },
      { type: "hold", down: false },
    ]);
  });

  it("can be left and taken up in a call, which goes on as it is", async () => {
    await connected();
    call.press(true);
    call.setHolds(false);
    expect([servers.length, call.holds, call.pressed]).toEqual([1, false, false]);
    expect(server().said.at(-1)).toEqual({ type: "hold", down: false });
    expect(done.slice(-2)).toEqual(["holds false", "mute false"]);
    call.press(true);
    expect(call.pressed).toBe(false);
    call.setHolds(true);
    expect(done.slice(-2)).toEqual(["holds true", "mute true"]);
  });
});

describe("the loudspeaker of a call", () => {
  it("is one of those there are, and the browser's own where it is gone", async () => {
    await connected();
    await calm();
    expect([call.outputs, call.output]).toEqual([[{ id: "box", label: "Box" }], ""]);
    await call.useOutput("box");
    expect([call.output, call.notice, done.at(-1)]).toEqual(["box", "", "sound box"]);
    await call.useOutput("gone");
    expect(call.output).toBe("");
    expect(call.notice).toContain("cannot be used");
  });
});

describe("the screen", () => {
  it("stays on from the first ring until the call is over", async () => {
    await connected();
    expect(done.filter((deed) => ["awake", "asleep"].includes(deed))).toEqual(["awake"]);
    call.hangUp();
    expect(done).toContain("asleep");
  });
});

describe("a question in a call", () => {
  const approval = { id: "a1", run: "", conversation: "c1", server: "files", tool: "delete_note" };
  const asks = () => server().says("approval_asked", { reply_id: 4, question: "May I?", approval });

  it("is open until it is answered here", async () => {
    await connected();
    asks();
    expect(call.approval).toEqual(approval);
    expect(await call.decide(approval, { decision: "once" })).toBe("");
    expect([call.approval, server().said.at(-1)]).toEqual([null, { type: "approval", id: "a1", decision: "once" }]);
  });

  it("is closed by whoever else answers it, and by the end of its line", async () => {
    await connected();
    asks();
    server().says("approval_answered", { reply_id: 4, id: "a1", decision: null });
    expect(call.approval).toBe(null);
    asks();
    server().listener.closed(1006, "");
    expect(call.approval).toBe(null);
    expect(await call.decide(approval, { decision: "deny" })).toContain("Calling again");
  });

  it("of a reply that was interrupted does not come up any more", async () => {
    await connected();
    server().says("interrupt", { reply_id: 4 }, 1);
    asks();
    expect(call.approval).toBe(null);
  });
});

describe("the server's tools in a call", () => {
  it("are lines of what is said, each where it began", async () => {
    await connected();
    const tool = { reply_id: 4, call_id: "c1", name: "calculate", tool: "calculate", state: "running", text: "" };
    server().says("tool", tool);
    server().says("transcript", { turn: 2, text: "hm", final: true });
    server().says("tool", { ...tool, state: "done", text: "4" });
    expect(call.lines.map((line) => (line.side === "tool" ? `${line.tool} ${line.state}` : line.text))).toEqual(["calculate done", "hm"]);
    server().says("tool", { ...tool, call_id: "c2" });
    server().listener.closed(1006, "");
    expect(call.lines.at(-1)).toMatchObject({ state: "skipped" });
  });

  it("and whatever else changes the conversation has the chat read again", async () => {
    await connected();
    server().says("history", { conversation_id: "c1", leaf: "m9", messages: [] });
    expect(done).toContain("changed");
  });
});

describe("typing", () => {
  it("is said in the call, while there is one", async () => {
    expect(call.type("too early")).toBe(false);
    await connected();
    expect([call.type("  "), call.type(" hello ")]).toEqual([false, true]);
    expect(server().said.at(-1)).toEqual({ type: "text", text: "hello" });
    expect(call.anything).toBe(true);
  });
});

describe("the microphone", () => {
  it.each(["insecure", "unsupported", "denied", "none", "busy", "failed"] as const)("that is not to be had (%s) is said in a sentence", async (fault) => {
    refusal = new NoMicrophone(fault);
    await call.begin();
    expect([call.phase, call.fault, servers.length]).toEqual(["over", fault, 0]);
    expect(call.problem.length).toBeGreaterThan(20);
    if (fault === "insecure") expect(call.problem).toContain("--tls");
    expect(done).toContain("released");
  });

  it("can be another one in a call", async () => {
    await connected();
    call.mute();
    await call.useDevice("second");
    expect(done.slice(-4)).toEqual(["chosen second", "deaf", "listen second", "mute true"]);
    expect(call.device).toBe("second");
  });

  it("that is unplugged is followed by another, and said", async () => {
    await connected();
    ears.lost();
    await calm();
    expect(done).toContain("deaf");
    expect([call.device, call.notice]).toEqual(["first", "The microphone is gone. Another one is used now."]);
    clock.pass(8000);
    expect(call.notice).toBe("");
  });

  it("that cannot be changed is said, and the call goes on", async () => {
    await connected();
    refusal = new NoMicrophone("busy");
    await call.useDevice("second");
    expect([call.phase, call.notice]).toEqual(["live", "Another program has the microphone. End it there, and try again."]);
  });
});

describe("a line that is lost", () => {
  it("is dialled again, longer and longer apart, and says so", async () => {
    await connected();
    server().says("response_text", { reply_id: 1, text: "One two three", final: true });
    server().says("caption", { reply_id: 1, words: ["One", "two", "three"].map((text, at) => ({ text, start_ms: at * 100, end_ms: at * 100 + 100 })) });
    server().speaks(1);
    report({ reply: 1, samples: 150 * 24, state: "playing", level: 0 });
    server().listener.closed(1006, "");
    expect([call.phase, done.at(-1)]).toEqual(["again", "mute false"]);
    expect(call.lines).toMatchObject([{ text: "One two", unheard: " three", ending: "interrupted" }]);
    expect(done).toContain("drop 1");
    ears.heard({ pcm: new Int16Array(320), level: 0 });
    expect(server().sound).toBe(0);
    clock.pass(400);
    await calm();
    expect(servers.length).toBe(2);
    server().listener.opened();
    server().says("status", { state: "listening" });
    expect([call.phase, server().said[0].conversation_id]).toEqual(["live", "c1"]);
  });

  it("for good ends the call with a sentence", async () => {
    await connected();
    for (let tries = 0; tries < 6; tries++) {
      server().listener.closed(1006, "");
      clock.pass(8000);
      await calm();
    }
    expect(servers.length).toBe(6);
    expect([call.phase, call.problem]).toEqual(["over", "The line was lost, and nobody answers. What was said is in the chat."]);
    expect(done.slice(-4)).toEqual(["deaf", "dumb", "asleep", "released"]);
  });

  it("after a good while has all its tries again", async () => {
    await connected();
    for (let tries = 0; tries < 12; tries++) {
      clock.pass(30_000);
      server().listener.closed(1006, "");
      clock.pass(400);
      await calm();
      server().listener.opened();
      server().says("status", { state: "listening" });
    }
    expect(call.phase).toBe("live");
  });

  it("that the server ended is not dialled again: its last sentence says why", async () => {
    await connected();
    server().says("error", { code: "call_idle", message: "Nobody has said anything." });
    server().listener.closed(1000, "call_idle");
    clock.pass(60_000);
    await calm();
    expect([call.phase, call.problem, servers.length]).toEqual(["over", "Nobody has said anything.", 1]);
  });
});

describe("an error", () => {
  it("that the call survives is said for a while", async () => {
    await connected();
    server().says("error", { code: "x", message: "That was odd." });
    expect([call.phase, call.notice]).toEqual(["live", "That was odd."]);
    clock.pass(8000);
    expect(call.notice).toBe("");
  });

  it("that keeps it from having a conversation ends it", async () => {
    wanted = "No answer.";
    await call.begin();
    expect([call.phase, call.problem, servers.length]).toEqual(["over", "No answer.", 0]);
  });
});

describe("hanging up", () => {
  it("says so and gives everything back", async () => {
    await connected();
    call.hangUp();
    expect(server().types().at(-1)).toBe("stop");
    expect([server().closed, call.phase, call.problem]).toEqual([true, "over", ""]);
    expect(done.slice(-5)).toEqual(["deaf", "dumb", "asleep", "released", "ended"]);
    server().says("status", { state: "speaking" });
    server().listener.closed(1006, "");
    clock.pass(60_000);
    expect([call.phase, servers.length]).toEqual(["over", 1]);
  });

  it("while it is still begun leaves no microphone on", async () => {
    const begun = call.begin();
    call.hangUp();
    await begun;
    expect(done).toContain("deaf");
    expect(servers.length).toBe(0);
  });
});
