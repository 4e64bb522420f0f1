import type { ContextKind } from "../../wire/conversations";
import { localised } from "../language.svelte";

const parts: Record<ContextKind, string> = {
  system: "Instructions",
  tools: "Tools on offer",
  summary: "Summary",
  user: "What you said",
  assistant: "Replies",
  tool: "What tools gave",
  files: "Files",
};

const english = {
  // Deleting.
  delete: "Delete",
  keep: "Keep",
  close: "Close",
  asking: "One moment",
  deleteMessage: "Delete this message?",
  deleteReply: "Delete this reply?",
  deleteAll: (parts: readonly string[]) => `Delete this and what follows, on every branch? That is ${parts.join(" and ")}.`,
  yours: (count: number, shown: string) => `${shown}\u00a0${count === 1 ? "message of yours" : "messages of yours"}`,
  replies: (count: number, shown: string) => `${shown}\u00a0${count === 1 ? "reply" : "replies"}`,

  // Editing.
  editMessage: "Edit your message",
  editReply: "Edit this reply",
  sendAgain: "Send again",
  onlySave: "Only save",
  save: "Save",
  cancel: "Cancel",

  // Approvals.
  may: "May ",
  ofServer: (server: string) => ` of ${server}`,
  run: " run?",
  formAsks: (who: string, message: string) => `${who} asks: ${message}`,
  linkAsks: (who: string, message: string) => `${who} asks you to open a page. ${message}`,
  once: "Allow once",
  always: "Always this tool",
  alwaysServer: (server: string) => `Always ${server}`,
  deny: "Deny",
  done: "Done",
  refuse: "Refuse",
  send: "Send",
  optional: (title: string) => `${title} (optional)`,

  // Context window.
  context: "Context",
  taken: (tokens: string, context: string) => `${tokens} of ${context} tokens are taken.`,
  room: (tokens: string) => `${tokens} are left for the reply.`,
  parts,
  full: "The model soon cannot take in the whole chat. Sum up its oldest messages, or begin a new chat.",
  compact: "Sum up the oldest messages",
  compacting: "Summing up",

  // Instructions.
  instructions: "Instructions to the model",
  instructionsAbout: "What the model is told before everything else in this chat.",
  instructionsExample: "Answer briefly. When you do not know something, say so.",

  // Login.
  keyNeeded: "This server needs a key",
  keyAbout: "Whoever runs it can give you one. This browser then stays logged in.",
  key: "Key",
  logIn: "Log in",
};

export type BesideWords = typeof english;

export const beside = (): BesideWords => localised("beside", english);
