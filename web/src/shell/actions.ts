// Actions available by shortcut or palette anywhere on the page, and when each applies. No keys and no DOM: what needs
// the page is passed in.
import type { Chat } from "../chat/chat.svelte";
import type { ConversationList } from "../chat/list/conversation_list.svelte";
import { type Preferences, THEMES } from "../settings/preferences.svelte";
import type { Server } from "../settings/server.svelte";
import { chatAddress, helpAddress, screenAddress } from "./route";
import type { Voice } from "../voice/voice.svelte";
import type { Shell } from "./shell.svelte";
import type { Action } from "./shortcuts";

/** Commands implemented by the page's components. */
export interface PageCommands {
  startNew(how?: { readonly temporary: boolean }): void;
  focusSearch(): void;
  focusComposer(): void;
  toggleSidebar(): void;
  rename(): void;
  copy(text: string): void;
}

export interface ActionContext {
  readonly shell: Shell;
  readonly chat: Chat;
  readonly list: ConversationList;
  readonly preferences: Preferences;
  readonly server: Server;
  readonly voice: Pick<Voice, "call" | "startCall" | "recordMessage">;
}

interface ActionDefinition {
  /** Absent: always available. */
  readonly can?: () => boolean;
  readonly run: () => void;
}

export class Actions {
  readonly #definitions: Readonly<Record<Action, ActionDefinition>>;

  constructor(context: ActionContext, page: PageCommands) {
    this.#definitions = { ...pageActions(context, page), ...chatActions(context, page) } as Record<Action, ActionDefinition>;
  }

  can(action: Action): boolean {
    return this.#definitions[action].can?.() ?? true;
  }

  /** Returns whether the action was available. */
  run(action: Action): boolean {
    if (!this.can(action)) return false;
    this.#definitions[action].run();
    return true;
  }
}

type ActionTable = Partial<Record<Action, ActionDefinition>>;

function pageActions({ shell, preferences, server }: ActionContext, page: PageCommands): ActionTable {
  const hasFeature = (feature: string) => () => server.capabilities?.features?.[feature] ?? false;
  return {
    palette: { run: () => shell.show("palette") },
    shortcuts: { run: () => shell.show("shortcuts") },
    "new-chat": { run: () => page.startNew() },
    "temporary-chat": { run: () => page.startNew({ temporary: true }) },
    search: { run: () => page.focusSearch() },
    composer: { can: () => shell.screen === "chat", run: () => page.focusComposer() },
    sidebar: { run: () => page.toggleSidebar() },
    theme: {
      run: () => {
        const { theme } = preferences.page;
        preferences.change({ page: { theme: THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system" } });
      },
    },
    settings: { run: () => shell.navigate(screenAddress("settings")) },
    models: { can: hasFeature("models"), run: () => shell.navigate(screenAddress("models")) },
    admin: { can: hasFeature("admin"), run: () => shell.navigate(screenAddress("admin")) },
    help: { run: () => shell.navigate(helpAddress("")) },
  };
}

function chatActions({ shell, chat, list, server, voice }: ActionContext, page: PageCommands): ActionTable {
  const isOpen = () => shell.screen === "chat" && chat.id !== null;
  const isListed = () => isOpen() && list.get(chat.id) !== undefined;
  const reply = () => {
    const last = chat.shown.at(-1);
    return isOpen() && last?.kind === "reply" ? last : null;
  };
  const replyText = () => (reply()?.rows ?? []).flatMap((row) => (row.role === "assistant" && row.text !== "" ? [row.text] : [])).join("\n\n");
  const hasFeature = (feature: string) => server.capabilities?.features?.[feature] ?? false;
  const neighbourAction = (step: 1 | -1): ActionDefinition => ({
    can: () => list.neighbour(chat.id, step) !== null,
    run: () => shell.navigate(chatAddress(list.neighbour(chat.id, step))),
  });
  return {
    // While an overlay is open, Escape closes that instead.
    stop: {
      can: () => (chat.running || (voice.call?.interruptible ?? false)) && !shell.drawerOpen && shell.overlay === null,
      run: () => (voice.call?.interruptible ? voice.call.interrupt() : chat.stop()),
    },
    call: { can: () => shell.screen === "chat" && hasFeature("voice") && server.capabilities?.apps?.["audio_duplex"] !== false, run: () => voice.startCall() },
    // Pressing the same keys again sends the recording.
    speak: { can: () => shell.screen === "chat" && hasFeature("transcription") && voice.call === null, run: () => voice.recordMessage() },
    regenerate: { can: () => reply() !== null && !chat.running, run: () => chat.regenerate(reply()!) },
    "copy-reply": { can: () => replyText() !== "", run: () => page.copy(replyText()) },
    "previous-chat": neighbourAction(-1),
    "next-chat": neighbourAction(1),
    "rename-chat": { can: isListed, run: () => page.rename() },
    "pin-chat": { can: isListed, run: () => void list.pin(chat.id!, !list.get(chat.id)!.pinned) },
    "archive-chat": { can: isListed, run: () => void list.archive(chat.id!, !list.get(chat.id)!.archived) },
    "delete-chat": { can: isOpen, run: () => void list.delete(chat.id!) },
  };
}
