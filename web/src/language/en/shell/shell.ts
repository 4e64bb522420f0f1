import { localised } from "../../language.svelte";

const english = {
  chats: "Chats",
  chatsAndSearch: "Chats and search",
  skip: "Skip to message field",
  skipToScreen: "Skip to content",
  newChat: "New chat",
  latest: "Latest",
  unread: "New activity",
  drop: "Drop files to attach",
  emptyFolder: "There are no files in this folder.",
  back: "Back to the chat",
  close: "Close",
  cancel: "Cancel",
  undo: "Undo",
  more: "More",
  reload: "Reload",
  loading: "Loading…",
  partMissing: "Couldn’t load this part of the page.",
  again: "Try again",
  unreachable: "Can’t reach the server. Retrying…",
  modelLoading: "Loading the model…",
  modelRestarting: "The model stopped. Restarting…",
  modelFailed: "Couldn’t start the model. See the server log.",
  outdated: "A new version is available.",
  theme: { system: "Theme: system", light: "Theme: light", dark: "Theme: dark" },
  copied: "Copied.",
  notCopied: "Couldn’t copy: the browser blocked it.",
  status: (status: number) => `The server returned status ${status}.`,
  unreadable: "Couldn’t read the server’s response.",
  noCookie: "The key is valid, but this browser blocks the login cookie.",
  noAnswer: "The server isn’t responding. Try again in a moment.",
  // Key labels that differ from the browser's names.
  keys: { Mod: "Ctrl" } as Readonly<Record<string, string>>,
};

export type ShellWords = typeof english;

export const shell = (): ShellWords => localised("shell", english);
