import { beforeEach, describe, expect, it } from "vitest";

import { type ActionContext, Actions } from "../../src/shell/actions";
import { ACTIONS } from "../../src/shell/shortcuts";

let done: string[];
let context: any;
let actions: Actions;

beforeEach(() => {
  done = [];
  const note =
    (name: string) =>
    (...given: unknown[]) => void done.push([name, ...given].join(" "));
  context = {
    shell: { screen: "chat", drawerOpen: false, overlay: null, show: note("show"), navigate: note("go") },
    chat: { id: null, running: false, shown: [], stop: note("stop"), regenerate: () => note("again")() },
    list: {
      get: (id: string | null) => (id === "c1" ? { id, pinned: true, archived: false } : undefined),
      neighbour: (id: string | null, step: number) => (id === "c1" && step === 1 ? "c2" : null),
      pin: note("pin"),
      archive: note("archive"),
      delete: note("delete"),
    },
    preferences: { page: { theme: "dark" }, change: (changes: unknown) => note("change")(JSON.stringify(changes)) },
    server: { capabilities: { features: { models: true } } },
    voice: { call: null, startCall: note("call"), recordMessage: note("speak") },
  };
  actions = new Actions(context as ActionContext, {
    startNew: (how) => note("anew")(how?.temporary ?? false),
    focusSearch: note("search"),
    focusComposer: note("composer"),
    toggleSidebar: note("sidebar"),
    rename: note("rename"),
    copy: note("copy"),
  });
});

describe("actions", () => {
  it("are all there, and none fails on an empty page", () => {
    for (const action of ACTIONS) actions.run(action);
    expect(done).not.toContain("stop");
    expect(done).toContain("anew true");
  });

  it("do nothing where there is nothing to do it to", () => {
    for (const action of ["stop", "rename-chat", "delete-chat", "regenerate", "previous-chat", "admin"] as const) {
      expect([action, actions.run(action)]).toEqual([action, false]);
    }
    expect(done).toEqual([]);
  });

  it("change the chat on the page", () => {
    context.chat.id = "c1";
    for (const action of ["pin-chat", "archive-chat", "delete-chat", "rename-chat", "next-chat"] as const) expect(actions.run(action)).toBe(true);
    expect(done).toEqual(["pin c1 false", "archive c1 true", "delete c1", "rename", "go #/c/c2"]);
  });

  it("speak a message where speech is written down, though nothing here can be called", () => {
    expect(actions.run("speak")).toBe(false);
    context.server.capabilities.features.transcription = true;
    expect([actions.run("speak"), actions.run("call")]).toEqual([true, false]);
  });

  it("leave Escape to what lies over the page", () => {
    context.chat.running = true;
    expect(actions.run("stop")).toBe(true);
    context.shell.overlay = "palette";
    expect(actions.run("stop")).toBe(false);
  });

  it("copy what the last reply says, all its parts", () => {
    context.chat.id = "c1";
    const rows = [{ role: "assistant", text: "One." }, { role: "tool", text: "x" }, { role: "assistant", text: "Two." }];
    context.chat.shown = [{ kind: "reply", rows }];
    actions.run("copy-reply");
    expect(done).toEqual(["copy One.\n\nTwo."]);
  });

  it("call where the server has a voice, and silence the call before a written reply", () => {
    expect(actions.run("call")).toBe(false);
    context.server.capabilities.features.voice = true;
    context.chat.running = true;
    context.voice.call = { interruptible: true, interrupt: () => done.push("interrupt") };
    expect([actions.run("call"), actions.run("stop")]).toEqual([true, true]);
    context.voice.call.interruptible = false;
    actions.run("stop");
    expect(done).toEqual(["call", "interrupt", "stop"]);
  });

  it("offer a page only where the server does", () => {
    expect([actions.can("models"), actions.can("admin")]).toEqual([true, false]);
  });
});
