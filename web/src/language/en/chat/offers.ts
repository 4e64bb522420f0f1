import { localised } from "../../language.svelte";

const english = {
  prompts: "Prompts and commands",
  resources: "Resources",
  commands: "Commands",
  models: "Models",
  found: (count: number) => (count === 1 ? "1 entry" : `${count} entries`),
  nothing: { prompts: "No prompts available.", resources: "No resources available." },
  asking: "Loading from tool servers…",
  newChat: "Start a new chat",
  temporaryChat: "Start a chat that isn’t saved",
  help: "Ask about Duologue",
  compact: "Summarize older messages",
  choose: (model: string) => `Switch to ${model}`,
  insert: "Insert",
  attach: "Attach",
  emptyPrompt: "This prompt is empty.",
  required: "required",

  switches: "Tools in this chat",
  all: "Tools",
  allDetail: "Let the model use tools",
  builtin: "Built-in",
  count: (count: number) => (count === 0 ? "No tools" : count === 1 ? "1 tool" : `${count} tools`),
  off: "Off for everyone",
  login: "Needs sign-in",
  connecting: "Connecting",
  failed: "Unavailable",
  settings: "Tool servers",
};

export type OffersWords = typeof english;

export const offers = (): OffersWords => localised("offers", english);
