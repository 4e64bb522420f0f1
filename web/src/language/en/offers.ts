import { localised } from "../language.svelte";

const english = {
  prompts: "Prompts and commands",
  resources: "Resources",
  commands: "Commands",
  models: "Models",
  found: (count: number) => (count === 1 ? "1 entry" : `${count} entries`),
  nothing: { prompts: "No tool server offers prompts.", resources: "No tool server offers resources." },
  asking: "The tool servers are being asked.",
  newChat: "Begin a new chat",
  temporaryChat: "Begin a chat that is kept nowhere",
  compact: "Sum up the oldest messages to make room",
  choose: (model: string) => `Let ${model} answer`,
  insert: "Insert",
  attach: "Attach",
  emptyPrompt: "The prompt is empty.",
  required: "needed",

  switches: "Tools in this chat",
  all: "Tools",
  allDetail: "Whether the model may use tools at all",
  builtin: "Built in",
  count: (count: number) => (count === 0 ? "No tools" : count === 1 ? "1 tool" : `${count} tools`),
  off: "Switched off for everybody",
  login: "Somebody has to sign in there first",
  connecting: "Is being connected",
  failed: "Cannot be used now",
  settings: "Tool servers",
};

export type OffersWords = typeof english;

export const offers = (): OffersWords => localised("offers", english);
