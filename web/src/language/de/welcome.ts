import type { WelcomeWords } from "../en/welcome";

export const welcome: WelcomeWords = {
  to: "Eine Nachricht an ",
  something: "Eine Nachricht",
  bundled: (count) =>
    `Es gehört zu Duologue und läuft auf diesem Rechner: ein Sprachmodell mit ${count === "" ? "sehr wenigen" : count} Parametern. Das ist klein. Es grüßt, addiert kleine Zahlen und erzählt von diesem Server; bei allem anderen irrt es sich oft. Es kann am besten Englisch.`,
  parameters: (count) => `${count} Parameter.`,
  remembers: (tokens) => `Es behält ${tokens} Token eines Chats.`,
  onItsWay: "Das Modell, das hier antwortet, ist unterwegs.",
  examplesLabel: "Beispiele",
  examples: ["Hallo! Wer bist du?", "Was ist 2 + 3?", "Wie nutze ich ein anderes Modell?", "Erzähl mir eine kurze Geschichte"],
  bundledExamples: ["Hello! Who are you?", "What is 2 + 3?", "How do I use another model?", "Tell me a short story"],
  previous: "Zurück zum vorigen Chat",
  other: "Ein anderes Modell",
  onPage: "Auf der Seite Modelle eines aussuchen und laden",
  stopFirst: "Diesen Server beenden und dann einen dieser Befehle ausführen.",
  orStop: "Oder diesen Server beenden und einen dieser Befehle ausführen.",
  best: "Das beste, das hier läuft",
  file: "Eine Datei auf diesem Rechner",
  checkout: "Dasselbe aus dem Quelltext",
  upstream: "Ein OpenAI-kompatibler Server",
  copyCommand: (command) => `Kopieren: ${command}`,
};
