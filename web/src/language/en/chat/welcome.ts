import { localised } from "../../language.svelte";

const english = {
  title: "What can I help with?",
  answers: (model: string) => `${model} answers.`,
  bundled: "It’s tiny: good for a greeting or simple math, often wrong otherwise.",
  better: "Get a better model",
  looking: "Checking this machine",
  proposal: (model: string, size: string, fit: string) => `${model} · ${size} · ${fit}`,
  installed: (model: string, fit: string) => `${model} · already downloaded · ${fit}`,
  getting: (model: string) => `Getting ${model}. You can close this page.`,
  more: "More models",
  none: "No recommended model fits this machine.",
  askAdmin: "Ask an admin for a better model.",
  examplesLabel: "Examples",
  examples: ["Explain how vaccines work", "Write a birthday message for a friend", "Plan a weekend in Lisbon", "Fix a bug in my code"],
  bundledExamples: ["Hello! Who are you?", "What is 6 times 7?", "Which is larger, 12 or 21?", "Tell me a joke"],
  previous: "Back to the previous chat",
};

export type WelcomeWords = typeof english;

export const welcome = (): WelcomeWords => localised("welcome", english);
