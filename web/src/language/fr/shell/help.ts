import type { HelpWords } from "../../en/shell/help";

export const help: HelpWords = {
  title: "Aide",
  field: "Question (en anglais)",
  topics: "Questions fréquentes",
  questions: [
    "How do I get a better model?",
    "How do I connect another server?",
    "How do I start a voice call?",
    "How do I add users?",
    "How do I reach it from my phone?",
    "How do I make a backup?",
  ],
  found: (count) => (count < 2 ? `${count} section` : `${count} sections`),
  nothing: "Aucun résultat. Essayez d’autres mots.",
  inEnglish: "La documentation est en anglais.",
};
