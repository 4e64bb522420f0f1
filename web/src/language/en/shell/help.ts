import { localised } from "../../language.svelte";

const english = {
  title: "Help",
  field: "Ask about Duologue",
  topics: "Common questions",
  questions: [
    "How do I get a better model?",
    "How do I connect another server?",
    "How do I start a voice call?",
    "How do I add users?",
    "How do I reach it from my phone?",
    "How do I make a backup?",
  ],
  found: (count: number) => (count === 1 ? "1 section" : `${count} sections`),
  nothing: "No results. Try other words.",
  inEnglish: "",
};

export type HelpWords = typeof english;

export const help = (): HelpWords => localised("help", english);
