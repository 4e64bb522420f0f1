import type { WelcomeWords } from "../../en/chat/welcome";

export const welcome: WelcomeWords = {
  title: "Womit kann ich helfen?",
  answers: (model) => `${model} antwortet.`,
  bundled: "Es ist winzig: gut für eine Begrüßung oder einfaches Rechnen auf Englisch, sonst oft falsch.",
  better: "Besseres Modell holen",
  looking: "Prüft diesen Rechner",
  proposal: (model, size, fit) => `${model} · ${size} · ${fit}`,
  installed: (model, fit) => `${model} · schon heruntergeladen · ${fit}`,
  getting: (model) => `${model} wird geholt. Du kannst diese Seite schließen.`,
  more: "Mehr Modelle",
  none: "Kein empfohlenes Modell passt auf diesen Rechner.",
  askAdmin: "Bitte einen Admin um ein besseres Modell.",
  examplesLabel: "Beispiele",
  examples: ["Erkläre, wie Impfungen wirken", "Schreib einem Freund zum Geburtstag", "Plane ein Wochenende in Lissabon", "Finde den Fehler in meinem Code"],
  bundledExamples: ["Hello! Who are you?", "What is 6 times 7?", "Which is larger, 12 or 21?", "Tell me a joke"],
  previous: "Zurück zum vorherigen Chat",
};
