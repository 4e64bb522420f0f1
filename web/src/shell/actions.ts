// What can be done from anywhere on the page, by a key or from the palette: what each action does, and whether there is
// anything to do it to. Knows no key and no DOM but through the desk it is given.
import type { Chat } from "../chat/chat.svelte";
import type { ConversationList } from "../chat/list/conversation_list.svelte";
import { type Preferences, THEMES } from "../settings/preferences.svelte";
import type { Server } from "../settings/server.svelte";
import { addressOf, screenAddress } from "./place";
import type { Voice } from "../voice/voice.svelte";
import type { Shell } from "./shell.svelte";
import type { Action } from "./shortcuts";

/** What only the page itself can do. */
export interface Desk {
  startNew(how?: { readonly temporary: boolean }): void;
  toSearch(): void;
  toComposer(): void;
  toggleSidebar(): void;
  rename(): void;
  copy(text: string): void;
}

export interface Scene {
  readonly shell: Shell;
  readonly chat: Chat;
  readonly list: ConversationList;
  readonly preferences: Preferences;
  readonly server: Server;
  readonly voice: Pick<Voice, "call" | "begin" | "small" | "speak">;
}

interface Deed {
  /** Absent: always. */
  readonly can?: () => boolean;
  readonly run: () => void;
}

export class Actions {
  readonly #deeds: Readonly<Record<Action, Deed>>;

  constructor(scene: Scene, desk: Desk) {
    this.#deeds = { ...pageDeeds(scene, desk), ...chatDeeds(scene, desk) } as Record<Action, Deed>;
  }

  can(action: Action): boolean {
    return this.#deeds[action].can?.() ?? true;
  }

  /** Whether there was anything to do. */
  run(action: Action): boolean {
    if (!this.can(action)) return false;
    this.#deeds[action].run();
    return true;
  }
}

type Deeds = Partial<Record<Action, Deed>>;

function pageDeeds({ shell, preferences, server }: Scene, desk: Desk): Deeds {
  const offers = (feature: string) => () => server.capabilities?.features?.[feature] ?? false;
  return {
    palette: { run: () => shell.show("palette") },
    shortcuts: { run: () => shell.show("shortcuts") },
    "new-chat": { run: () => desk.startNew() },
    "temporary-chat": { run: () => desk.startNew({ temporary: true }) },
    search: { run: () => desk.toSearch() },
    composer: { can: () => shell.screen === "chat", run: () => desk.toComposer() },
    sidebar: { run: () => desk.toggleSidebar() },
    theme: {
      run: () => {
        const { theme } = preferences.page;
        preferences.change({ page: { theme: THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system" } });
      },
    },
    settings: { run: () => shell.go(screenAddress("settings")) },
    models: { can: offers("models"), run: () => shell.go(screenAddress("models")) },
    admin: { can: offers("admin"), run: () => shell.go(screenAddress("admin")) },
  };
}

function chatDeeds({ shell, chat, list, server, voice }: Scene, desk: Desk): Deeds {
  const here = () => shell.screen === "chat" && chat.id !== null;
  const kept = () => here() && list.get(chat.id) !== undefined;
  const reply = () => {
    const last = chat.shown.at(-1);
    return here() && last?.kind === "reply" ? last : null;
  };
  const said = () => (reply()?.rows ?? []).flatMap((row) => (row.role === "assistant" && row.text !== "" ? [row.text] : [])).join("\n\n");
  const offers = (feature: string) => server.capabilities?.features?.[feature] ?? false;
  const beside = (step: 1 | -1): Deed => ({
    can: () => list.neighbour(chat.id, step) !== null,
    run: () => shell.go(addressOf(list.neighbour(chat.id, step))),
  });
  return {
    // While something lies over the page, Escape is for that.
    stop: {
      can: () => (chat.running || (voice.call?.interruptible ?? false)) && !shell.drawn && shell.overlay === null,
      run: () => (voice.call?.interruptible ? voice.call.interrupt() : chat.stop()),
    },
    call: { can: () => shell.screen === "chat" && offers("voice"), run: () => voice.begin() },
    // The same keys once more send it.
    speak: { can: () => shell.screen === "chat" && offers("transcription") && voice.call === null, run: () => voice.speak() },
    regenerate: { can: () => reply() !== null && !chat.running, run: () => chat.regenerate(reply()!) },
    "copy-reply": { can: () => said() !== "", run: () => desk.copy(said()) },
    "previous-chat": beside(-1),
    "next-chat": beside(1),
    "rename-chat": { can: kept, run: () => desk.rename() },
    "pin-chat": { can: kept, run: () => void list.pin(chat.id!, !list.get(chat.id)!.pinned) },
    "archive-chat": { can: kept, run: () => void list.archive(chat.id!, !list.get(chat.id)!.archived) },
    "delete-chat": { can: here, run: () => void list.delete(chat.id!) },
  };
}
