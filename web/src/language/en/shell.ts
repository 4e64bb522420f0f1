import { localised } from "../language.svelte";

const english = {
  chats: "Chats",
  chatsAndSearch: "Chats and search",
  skip: "Skip to the message",
  skipToScreen: "Skip to the content",
  newChat: "New chat",
  latest: "Latest",
  unread: "There is something new",
  drop: "Drop files to attach them",
  back: "Back to the chat",
  close: "Close",
  cancel: "Cancel",
  undo: "Undo",
  more: "More",
  reload: "Reload",
  loading: "One moment",
  partMissing: "This part of the page could not be loaded.",
  again: "Try again",
  unreachable: "The server does not answer. Trying again.",
  modelLoading: "The model is being loaded.",
  modelRestarting: "The model stopped and is being started again.",
  modelFailed: "The model could not be started. The server's log says why.",
  outdated: "The server runs a newer page.",
  theme: { system: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" },
  copied: "Copied.",
  notCopied: "The browser did not let it be copied.",
  status: (status: number) => `The server answered with status ${status}.`,
  unreadable: "The server's answer could not be read.",
  noCookie: "The server took the key, but this browser does not send its cookie.",
  noAnswer: "The server does not answer. Try again in a moment.",
  // Key labels that differ from the browser's names.
  keys: { Mod: "Ctrl" } as Readonly<Record<string, string>>,
};

export type ShellWords = typeof english;

export const shell = (): ShellWords => localised("shell", english);
