import { beforeEach, describe, expect, it, vi } from "vitest";

vi.mock("../../../src/voice/audio/capture.worklet?worker&url", () => ({ default: "capture.js" }));

import { Call, type CallDependencies } from "../../../src/voice/call/call.svelte";
import type { SocketListener } from "../../../src/voice/call/socket";
import { MicrophoneError, type MicrophoneListener } from "../../../src/voice/audio/microphone";
import type { PlayoutReport } from "../../../src/voice/audio/playout";
import { MemoryStorage } from "../../../src/settings/storage";
import { ScreenError } from "../../../src/voice/video/frame_source";
import { frameSource } from "../video/frame_source_stand_in";
import { FakeClock } from "../../clock";
import { settle } from "../../server";

/** The server's end of the socket, driven by the test. */
class Server {
  readonly messages: any[] = [];
  sound = 0;
  buffered = 0;
  closed = false;

  constructor(readonly listener: SocketListener) {}

  send(type: string, fields: object = {}, epoch = 0): void {
    this.listener.onText(JSON.stringify({ type, epoch, ...fields }));
  }

  /** Audio of a reply in frames of 20 ms. */
  sendAudio(reply: number, frames = 5, chunk = 0): void {
    this.send("status", { state: "speaking" });
    this.send("audio_start", { reply_id: reply, chunk_id: chunk });
    for (let frame = 0; frame < frames; frame++) this.listener.onAudio(new Int16Array(480));
  }

  types(): string[] {
    return this.messages.map(({ type }) => type);
  }
}

let clock: FakeClock;
let servers: Server[];
let done: string[];
let microphone: MicrophoneListener;
let report: (report: PlayoutReport) => void;
let refusal: MicrophoneError | null;
let options: Awaited<ReturnType<CallDependencies["startOptions"]>>;
let call: Call;

const server = () => servers.at(-1)!;

beforeEach(() => {
  clock = new FakeClock();
  servers = [];
  done = [];
  refusal = null;
  options = { conversation: "c1", model: "", voice: "v", speed: 1, language: "" };
  call = new Call(dependencies());
});

function dependencies(): CallDependencies {
  return {
    openSocket(listener) {
      const made = new Server(listener);
      servers.push(made);
      return {
        sendText: (text) => made.messages.push(JSON.parse(text)),
        sendAudio: (pcm) => (made.sound += pcm.length),
        sendPicture: (text) => made.messages.push(JSON.parse(text)),
        get buffered() {
          return made.buffered;
        },
        close: () => (made.closed = true),
      };
    },
    async microphone({ device }, listener) {
      if (refusal) throw refusal;
      microphone = listener;
      done.push(`listen ${device}`);
      return { device: device || "first", setMuted: (muted) => done.push(`mute ${muted}`), stop: () => done.push("deaf") };
    },
    async speaker(reported) {
      report = reported;
      return { play: (order) => "reply" in order && order.kind !== "push" && done.push(`${order.kind} ${order.reply}`), stop: () => done.push("dumb") };
    },
    microphones: async () => [{ id: "first", label: "One" }],
    outputs: { list: async () => [{ id: "box", label: "Box" }], current: () => "", use: async (device) => (done.push(`sound ${device}`), device !== "gone") },
    video: {
      openCamera: async ({ device }) => (done.push(`camera ${device}`), frameSource(device || "front")),
      openScreen: async () => {
        throw new ScreenError(null);
      },
      listCameras: async () => [],
      canShareScreen: true,
      storage: new MemoryStorage(),
    },
    keepScreenOn: () => (done.push("awake"), () => done.push("asleep")),
    onConversationChanged: () => done.push("changed"),
    release: () => done.push("released"),
    clock,
    startOptions: async () => options,
    choice: () => ({ device: "", cleaned: true }),
    saveMicrophone: (device) => done.push(`chosen ${device}`),
    saveHoldToTalk: (holds) => done.push(`holds ${holds}`),
    onEnd: () => done.push("ended"),
  };
}

async function connected(): Promise<void> {
  await call.start();
  server().listener.onOpen();
  server().send("status", { state: "listening" });
}

describe("a call", () => {
  it("opens the microphone, connects, sends its options and is live when the server answers", async () => {
    expect(call.phase).toBe("connecting");
    await call.start();
    expect(done[0]).toBe("listen ");
    expect(call.phase).toBe("connecting");
    server().listener.onOpen();
    expect(server().messages[0]).toMatchObject({ type: "start", features: ["pause", "played", "units", "mouth"], conversation_id: "c1", voice: "v" });
    server().send("status", { state: "listening" });
    expect([call.phase, call.state, call.conversation]).toEqual(["live", "listening", "c1"]);
    await settle();
    expect(call.sound.microphones).toEqual([{ id: "first", label: "One" }]);
  });

  it("sends what is heard, from the moment it is live", async () => {
    await call.start();
    microphone.onFrame({ pcm: new Int16Array(320), level: 0.2 });
    server().listener.onOpen();
    server().send("status", { state: "listening" });
    microphone.onFrame({ pcm: new Int16Array(320), level: 0.3 });
    expect(server().sound).toBe(320);
    expect(call.volume.in).toBe(0.3);
  });

  it("shows where it is, in the queue too", async () => {
    await connected();
    server().send("status", { state: "waiting" });
    server().send("queued", { position: 2, estimated_wait_s: 30 });
    expect([call.state, call.queuePosition]).toEqual(["waiting", { position: 2, wait: 30 }]);
    server().send("queue_done");
    for (const state of ["hearing", "thinking", "speaking", "paused", "listening"]) {
      server().send("status", { state });
      expect([call.state, call.queuePosition]).toEqual([state, null]);
    }
  });

  it("plays audio, reports what was played, and knows the current word", async () => {
    await connected();
    server().sendAudio(1);
    report({ reply: 1, samples: 4800, state: "playing", level: 0.5 });
    expect(done).toContain("begin 1");
    expect(server().messages.at(-1)).toEqual({ type: "played", reply_id: 1, samples: 4800 });
    expect([call.heardMs(1), call.heardMs(2), call.volume.out]).toEqual([200, 0, 0.5]);
  });

  it("has the captions of both sides", async () => {
    await connected();
    server().send("transcript", { turn: 1, text: "what is", final: false });
    server().send("transcript", { turn: 1, text: "what is it", final: true });
    server().send("response_text", { reply_id: 1, text: "It is", final: false });
    server().send("caption", { reply_id: 1, words: [{ text: "It", start_ms: 0, end_ms: 100 }] });
    server().send("reply_done", { reply_id: 1, text: "It", unheard: " is", ending: "interrupted" });
    expect(call.lines).toMatchObject([
      { side: "user", text: "what is it", final: true },
      { side: "reply", text: "It", unheard: " is", ending: "interrupted" },
    ]);
    expect(call.hasContent).toBe(true);
  });

  it("knows which voice speaks instead of the one that was asked for, until it calls again", async () => {
    await connected();
    expect(call.otherVoice).toBe(null);
    server().send("voice", { voice: "low", voice_note: "There is no such voice." });
    expect(call.otherVoice).toBe("low");
    server().send("voice", { voice: null, voice_note: "There is no such voice." });
    expect(call.otherVoice).toBe("");
    server().listener.onClose(1006, "");
    expect(call.otherVoice).toBe(null);
  });

  it("lets by what it does not know and what is stale", async () => {
    await connected();
    server().listener.onText("nonsense");
    server().send("video_mode", { enabled: false });
    server().send("interrupt", { reply_id: 1 }, 2);
    server().send("status", { state: "speaking" }, 1);
    server().send("response_text", { reply_id: 1, text: "old" }, 1);
    expect([call.state, call.lines]).toEqual(["listening", []]);
  });
});

describe("interrupting", () => {
  it("is silent at once and reports what was played", async () => {
    await connected();
    server().sendAudio(3, 5, 20);
    report({ reply: 3, samples: 500, state: "playing", level: 0.5 });
    expect(call.interruptible).toBe(true);
    call.interrupt();
    expect(done.at(-1)).toBe("drop 3");
    expect(server().messages.at(-1)).toEqual({ type: "interrupt", reply_id: 3, samples: 500, last_chunk_id: 21 });
    expect(call.volume.out).toBe(0);
  });

  it("is for a reply that is thought of or spoken, and for nothing else", async () => {
    expect(call.interruptible).toBe(false);
    await connected();
    expect(call.interruptible).toBe(false);
    server().send("status", { state: "thinking" });
    expect(call.interruptible).toBe(true);
    call.interrupt();
    expect(server().messages.at(-1)).toEqual({ type: "interrupt" });
  });

  it("by the server pauses, resumes or drops", async () => {
    await connected();
    server().sendAudio(1);
    server().send("pause", { reply_id: 1 });
    server().send("resume", { reply_id: 1 });
    server().send("pause", { reply_id: 1 });
    server().send("interrupt", { reply_id: 1 }, 1);
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
    call = new Call(dependencies(), true);
  });

  it("sends audio only while the button is down, and reports presses", async () => {
    await connected();
    expect(done.filter((deed) => deed.startsWith("mute")).at(-1)).toBe("mute true");
    call.setTalkPressed(true);
    call.setTalkPressed(true);
    expect([call.talkPressed, done.at(-1)]).toEqual([true, "mute false"]);
    call.setTalkPressed(false);
    expect(done.at(-1)).toBe("mute true");
    expect(server().messages.slice(1)).toEqual([
      { type: "hold", down: true },
      { type: "hold", down: false },
    ]);
  });

  it("can be switched during a call", async () => {
    await connected();
    call.setTalkPressed(true);
    call.setHoldToTalk(false);
    expect([servers.length, call.holdToTalk, call.talkPressed]).toEqual([1, false, false]);
    expect(server().messages.at(-1)).toEqual({ type: "hold", down: false });
    expect(done.slice(-2)).toEqual(["holds false", "mute false"]);
    call.setTalkPressed(true);
    expect(call.talkPressed).toBe(false);
    call.setHoldToTalk(true);
    expect(done.slice(-2)).toEqual(["holds true", "mute true"]);
  });
});

describe("the loudspeaker of a call", () => {
  it("is one of the available devices, or the default if it is missing", async () => {
    await connected();
    await settle();
    expect([call.sound.outputs, call.sound.output]).toEqual([[{ id: "box", label: "Box" }], ""]);
    await call.sound.useOutput("box");
    expect([call.sound.output, call.notice, done.at(-1)]).toEqual(["box", "", "sound box"]);
    await call.sound.useOutput("gone");
    expect(call.sound.output).toBe("");
    expect(call.notice).toContain("Can’t use that speaker");
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
  const asks = () => server().send("approval_asked", { reply_id: 4, question: "May I?", approval });

  it("is open until it is answered here", async () => {
    await connected();
    asks();
    expect(call.approval).toEqual(approval);
    expect(await call.answerApproval(approval, { decision: "once" })).toBe("");
    expect([call.approval, server().messages.at(-1)]).toEqual([null, { type: "approval", id: "a1", decision: "once" }]);
  });

  it("is closed by an answer from elsewhere and by the end of the connection", async () => {
    await connected();
    asks();
    server().send("approval_answered", { reply_id: 4, id: "a1", decision: null });
    expect(call.approval).toBe(null);
    asks();
    server().listener.onClose(1006, "");
    expect(call.approval).toBe(null);
    expect(await call.answerApproval(approval, { decision: "deny" })).toContain("Reconnecting");
  });

  it("of a reply that was interrupted does not come up any more", async () => {
    await connected();
    server().send("interrupt", { reply_id: 4 }, 1);
    asks();
    expect(call.approval).toBe(null);
  });
});

describe("the server's tools in a call", () => {
  it("are lines in the order in which they began", async () => {
    await connected();
    const tool = { reply_id: 4, call_id: "c1", name: "calculate", tool: "calculate", state: "running", text: "" };
    server().send("tool", tool);
    server().send("transcript", { turn: 2, text: "hm", final: true });
    server().send("tool", { ...tool, state: "done", text: "4" });
    expect(call.lines.map((line) => (line.side === "tool" ? `${line.tool} ${line.state}` : line.text))).toEqual(["calculate done", "hm"]);
    server().send("tool", { ...tool, call_id: "c2" });
    server().listener.onClose(1006, "");
    expect(call.lines.at(-1)).toMatchObject({ state: "skipped" });
  });

  it("and whatever else changes the conversation has the chat read again", async () => {
    await connected();
    server().send("history", { conversation_id: "c1", leaf: "m9", messages: [] });
    expect(done).toContain("changed");
  });
});

describe("recording", () => {
  it("begins and ends when the server says so, and is asked for again after a lost connection", async () => {
    await connected();
    expect(server().messages[0]).not.toHaveProperty("record");
    call.setRecorded(true);
    expect([server().messages.at(-1), call.recorded]).toEqual([{ type: "record", on: true }, false]);
    server().send("recording", { on: true, recording_id: "r" });
    expect(call.recorded).toBe(true);
    server().listener.onClose(1006, "");
    expect(call.recorded).toBe(false);
    clock.pass(400);
    await settle();
    server().listener.onOpen();
    expect(server().messages[0]).toMatchObject({ type: "start", record: true });
  });

  it("that ends by itself is said, and not begun again", async () => {
    await connected();
    call.setRecorded(true);
    server().send("recording", { on: true, recording_id: "r" });
    server().send("recording", { on: false, recording_id: "r", reason: "disk_full" });
    expect([call.recorded, call.notice]).toEqual([false, "Recording ended."]);
    server().listener.onClose(1006, "");
    clock.pass(400);
    await settle();
    server().listener.onOpen();
    expect(server().messages[0]).not.toHaveProperty("record");
  });

  it("that may not begin leaves the reason to be read", async () => {
    await connected();
    call.setRecorded(true);
    server().send("error", { code: "recording_forbidden", message: "Not here." });
    server().send("recording", { on: false, recording_id: "", reason: "recording_forbidden" });
    expect([call.recorded, call.notice, call.phase]).toEqual([false, "Not here.", "live"]);
  });
});

describe("typing", () => {
  it("is sent into the call while it is live", async () => {
    expect(call.sendText("too early")).toBe(false);
    await connected();
    expect([call.sendText("  "), call.sendText(" hello ")]).toEqual([false, true]);
    expect(server().messages.at(-1)).toEqual({ type: "text", text: "hello" });
    expect(call.hasContent).toBe(true);
  });
});

describe("the microphone", () => {
  it.each(["insecure", "unsupported", "denied", "none", "busy", "failed"] as const)("that is unavailable (%s) is explained in a sentence", async (fault) => {
    refusal = new MicrophoneError(fault);
    await call.start();
    expect([call.phase, call.fault, servers.length]).toEqual(["over", fault, 0]);
    expect(call.problem.length).toBeGreaterThan(20);
    if (fault === "insecure") expect(call.problem).toContain("--tls");
    expect(done).toContain("released");
  });

  it("that is unplugged is followed by another, and said", async () => {
    await connected();
    microphone.onLost();
    await settle();
    expect(done).toContain("deaf");
    expect([call.sound.microphone, call.notice]).toEqual(["first", "Microphone disconnected. Switched to another one."]);
    clock.pass(8000);
    expect(call.notice).toBe("");
  });

  it("that cannot be changed is reported, and the call continues", async () => {
    await connected();
    refusal = new MicrophoneError("busy");
    await call.sound.useMicrophone("second");
    expect([call.phase, call.notice]).toEqual(["live", "Another program is using the microphone. Close it, then try again."]);
  });
});

describe("a line that is lost", () => {
  it("is dialled again, longer and longer apart, and says so", async () => {
    await connected();
    server().send("response_text", { reply_id: 1, text: "One two three", final: true });
    server().send("caption", { reply_id: 1, words: ["One", "two", "three"].map((text, at) => ({ text, start_ms: at * 100, end_ms: at * 100 + 100 })) });
    server().sendAudio(1);
    report({ reply: 1, samples: 150 * 24, state: "playing", level: 0 });
    server().listener.onClose(1006, "");
    expect([call.phase, done.at(-1)]).toEqual(["reconnecting", "mute false"]);
    expect(call.lines).toMatchObject([{ text: "One two", unheard: " three", ending: "interrupted" }]);
    expect(done).toContain("drop 1");
    microphone.onFrame({ pcm: new Int16Array(320), level: 0 });
    expect(server().sound).toBe(0);
    clock.pass(400);
    await settle();
    expect(servers.length).toBe(2);
    server().listener.onOpen();
    server().send("status", { state: "listening" });
    expect([call.phase, server().messages[0].conversation_id]).toEqual(["live", "c1"]);
  });

  it("for good ends the call with a sentence", async () => {
    await connected();
    for (let tries = 0; tries < 6; tries++) {
      server().listener.onClose(1006, "");
      clock.pass(8000);
      await settle();
    }
    expect(servers.length).toBe(6);
    expect([call.phase, call.problem]).toEqual(["over", "Connection lost. The conversation is in the chat."]);
    expect(done.slice(-4)).toEqual(["deaf", "dumb", "asleep", "released"]);
  });

  it("after a good while has all its tries again", async () => {
    await connected();
    for (let tries = 0; tries < 12; tries++) {
      clock.pass(30_000);
      server().listener.onClose(1006, "");
      clock.pass(400);
      await settle();
      server().listener.onOpen();
      server().send("status", { state: "listening" });
    }
    expect(call.phase).toBe("live");
  });

  it("that the server ended is not dialled again: its last sentence says why", async () => {
    await connected();
    server().send("error", { code: "call_idle", message: "Nobody has said anything." });
    server().listener.onClose(1000, "call_idle");
    clock.pass(60_000);
    await settle();
    expect([call.phase, call.problem, servers.length]).toEqual(["over", "Nobody has said anything.", 1]);
  });
});

describe("the camera", () => {
  const frames = () => server().messages.filter(({ type }) => type === "frame");

  /** The microphone hears for so long. */
  async function hear(milliseconds: number): Promise<void> {
    for (let at = 0; at < milliseconds; at += 100) {
      clock.pass(100);
      microphone.onFrame({ pcm: new Int16Array(320), level: 0 });
      await settle();
    }
  }

  it("that the call begins with sends its frames once the call is live", async () => {
    await call.start("camera");
    await hear(1000);
    expect(frames()).toEqual([]);
    server().listener.onOpen();
    server().send("status", { state: "listening" });
    await hear(100);
    expect(frames()).toEqual([{ type: "frame", image: "front 1", source: "camera" }]);
  });

  it("sends nothing while the call waits for a seat", async () => {
    await call.start("camera");
    server().listener.onOpen();
    server().send("status", { state: "waiting" });
    await hear(1000);
    expect(frames()).toEqual([]);
  });

  it("waits for a network that has not taken the last frame, and the microphone does not", async () => {
    await connected();
    await call.video.turnOn("camera");
    server().buffered = 50_000;
    await hear(2000);
    expect([frames().length, server().sound]).toEqual([0, 6400]);
    server().buffered = 0;
    await hear(100);
    expect(frames().length).toBe(1);
  });

  it("goes on with the next connection, and off with the call", async () => {
    await connected();
    await call.video.turnOn("camera");
    server().listener.onClose(1006, "");
    clock.pass(400);
    await settle();
    server().listener.onOpen();
    server().send("status", { state: "listening" });
    await hear(1000);
    expect(frames().length).toBeGreaterThan(0);
    call.hangUp();
    expect([call.video.phase, call.videoAtEnd]).toEqual(["off", "camera"]);
  });

  it("is turned off with the server's sentence where the model sees nothing", async () => {
    await connected();
    await call.video.turnOn("camera");
    server().send("error", { code: "modality_unsupported", message: "The model takes no pictures." });
    expect([call.phase, call.video.phase, call.video.problem, call.notice]).toEqual(["live", "failed", "The model takes no pictures.", ""]);
  });

  it("has the figures of a model that holds the call by itself, for as long as the connection", async () => {
    await connected();
    expect(call.unit).toBe(null);
    server().send("unit", { kv_cache_length: 500, late_ms: 12 });
    expect(call.unit).toEqual({ cached: 500, late: 12 });
    server().listener.onClose(1006, "");
    expect(call.unit).toBe(null);
  });

  it("is remembered for another try where there was no microphone", async () => {
    refusal = new MicrophoneError("denied");
    await call.start("camera");
    expect([call.phase, call.videoAtEnd, done]).toEqual(["over", "camera", expect.not.arrayContaining(["camera "])]);
  });
});

describe("an error", () => {
  it("that the call survives is shown for a while", async () => {
    await connected();
    server().send("error", { code: "x", message: "That was odd." });
    expect([call.phase, call.notice]).toEqual(["live", "That was odd."]);
    clock.pass(8000);
    expect(call.notice).toBe("");
  });

  it("that keeps it from having a conversation ends it", async () => {
    options = "No answer.";
    await call.start();
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
    server().send("status", { state: "speaking" });
    server().listener.onClose(1006, "");
    clock.pass(60_000);
    expect([call.phase, servers.length]).toEqual(["over", 1]);
  });

  it("while it is starting leaves no microphone on", async () => {
    const begun = call.start();
    call.hangUp();
    await begun;
    expect(done).toContain("deaf");
    expect(servers.length).toBe(0);
  });
});

describe("a face that the server renders", () => {
  /** What the call told its film. */
  let told: string[];

  const film = () => ({
    avatar: "mira",
    drawn: true,
    begin: () => void told.push("begin"),
    add: (reply: number | null, { first }: { first: number }) => void told.push(`add ${reply} ${first}`),
    onReport: ({ samples }: PlayoutReport) => void told.push(`report ${samples}`),
    drop: (reply: number) => void told.push(`drop ${reply}`),
    clear: () => void told.push("clear"),
    close: () => void told.push("close"),
    attach: () => () => {},
  });
  const segment = { at: 0, first: 3, rate: 25, codec: "avc1.64001E", sizes: [1], data: "YQ==" };

  beforeEach(async () => {
    told = [];
    options = { conversation: "c1", model: "", voice: "v", speed: 1, language: "", film: film() };
    await call.start();
    server().listener.onOpen();
    server().send("status", { state: "listening" });
  });

  it("is asked for as a stream of this face", () => {
    expect(server().messages[0]).toMatchObject({ type: "start", video: "stream", avatar: "mira" });
    expect(told).toEqual(["begin"]);
  });

  it("gets pictures and positions, and is dropped with the sound by Esc, an interruption and the end of a reply", () => {
    server().send("video_segment", { ...segment, reply_id: null });
    server().sendAudio(1);
    server().send("video_segment", { ...segment, reply_id: 1 });
    report({ reply: 1, samples: 480, state: "playing", level: 1 });
    call.interrupt();
    expect(told).toEqual(["begin", "add null 3", "add 1 3", "report 480", "drop 1"]);
    server().send("video_segment", { ...segment, reply_id: 1 });
    server().sendAudio(2);
    server().send("interrupt", { reply_id: 2 }, 1);
    server().send("video_segment", { ...segment, reply_id: 2 }, 0);
    expect(told.slice(5)).toEqual(["drop 2"]);
    // The face at rest is of no epoch.
    server().send("video_segment", { ...segment, reply_id: null }, 0);
    server().send("reply_done", { reply_id: 3, text: "", unheard: "", ending: "failed" }, 1);
    expect(told.slice(6)).toEqual(["add null 3", "drop 3"]);
  });

  it("is nothing where the server sends no video, and ends with its connection", () => {
    server().send("video_mode", { enabled: false });
    expect(told).toEqual(["begin", "clear"]);
    server().listener.onClose(1006, "");
    expect([told.at(-1), call.film]).toEqual(["close", null]);
  });
});
