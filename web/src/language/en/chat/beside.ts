import type { ContextKind } from "../../../wire/chat/conversations";
import { localised } from "../../language.svelte";

const parts: Record<ContextKind, string> = {
  system: "Instructions",
  tools: "Tool definitions",
  summary: "Summary",
  user: "Your messages",
  assistant: "Replies",
  tool: "Tool results",
  files: "Files",
};

const english = {
  // Deleting.
  delete: "Delete",
  keep: "Cancel",
  close: "Close",
  asking: "Loading…",
  deleteMessage: "Delete this message?",
  deleteReply: "Delete this reply?",
  deleteAll: (parts: readonly string[]) => `Delete this and everything after it, in all versions? That’s ${parts.join(" and ")}.`,
  yours: (_count: number, shown: string) => `${shown}\u00a0of your messages`,
  replies: (count: number, shown: string) => `${shown}\u00a0${count === 1 ? "reply" : "replies"}`,

  // Editing.
  editMessage: "Edit message",
  editReply: "Edit reply",
  sendAgain: "Resend",
  onlySave: "Save without resending",
  save: "Save",
  cancel: "Cancel",

  // Approvals.
  /** Around the name of the tool. */
  may: (server: string): string => (server === "" ? "Allow " : `Allow ${server} to run `),
  run: (server: string): string => (server === "" ? " to run?" : "?"),
  formAsks: (who: string, message: string) => `${who} asks: ${message}`,
  linkAsks: (who: string, message: string) => `${who} wants you to open a page. ${message}`,
  once: "Allow once",
  deny: "Deny",
  done: "Done",
  refuse: "Decline",
  send: "Send",
  optional: (title: string) => `${title} (optional)`,

  // Context window.
  context: "Context",
  taken: (tokens: string, context: string) => `${tokens} of ${context} tokens used.`,
  room: (tokens: string) => `${tokens} left for the reply.`,
  parts,
  full: "This chat is almost too long for the model. Summarize it or start a new one.",
  compact: "Summarize older messages",
  compacting: "Summarizing…",

  // Instructions.
  instructions: "Custom instructions",
  instructionsAbout: "Sent to the model at the start of this chat.",
  instructionsExample: "Keep answers short. If you’re not sure, say so.",

  // Login.
  keyNeeded: "This server needs a key",
  keyAbout: "Ask whoever runs this server. You’ll stay logged in on this browser.",
  key: "Key",
  logIn: "Log in",
};

export type BesideWords = typeof english;

export const beside = (): BesideWords => localised("beside", english);
