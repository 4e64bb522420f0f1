import { localised } from "../language.svelte";

const english = {
  to: "Say something to ",
  something: "Say something",
  bundled: (count: string) =>
    `It comes with Duologue and runs on this machine: a language model of ${count === "" ? "very few" : count} parameters. That is small. It greets, adds small numbers and tells you about this server; about everything else it is often wrong.`,
  parameters: (count: string) => `${count} parameters.`,
  remembers: (tokens: string) => `It remembers ${tokens} tokens of a conversation.`,
  onItsWay: "The model that answers here is on its way.",
  examplesLabel: "Examples",
  examples: ["Hello! Who are you?", "What is 2 + 3?", "How do I use another model?", "Tell me a short story"],
  bundledExamples: ["Hello! Who are you?", "What is 2 + 3?", "How do I use another model?", "Tell me a short story"],
  previous: "Back to the previous chat",
  other: "Bring another model",
  onPage: "Choose and load one on the Models page",
  stopFirst: "Stop this server, then run one of these.",
  orStop: "Or stop this server and run one of these.",
  best: "The best that fits here",
  file: "A file on this machine",
  checkout: "The same, from a checkout",
  upstream: "An OpenAI-compatible server",
  copyCommand: (command: string) => `Copy: ${command}`,
};

export type WelcomeWords = typeof english;

export const welcome = (): WelcomeWords => localised("welcome", english);
