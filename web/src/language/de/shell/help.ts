import type { HelpWords } from "../../en/shell/help";

export const help: HelpWords = {
  title: "Hilfe",
  field: "Frage auf Englisch stellen",
  topics: "Häufige Fragen",
  questions: [
    "How do I get a better model?",
    "How do I connect another server?",
    "How do I start a voice call?",
    "How do I add users?",
    "How do I reach it from my phone?",
    "How do I make a backup?",
  ],
  found: (count) => (count === 1 ? "1 Abschnitt" : `${count} Abschnitte`),
  nothing: "Keine Ergebnisse. Versuche andere Wörter.",
  inEnglish: "Die Dokumentation ist auf Englisch.",
};
