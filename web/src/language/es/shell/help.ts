import type { HelpWords } from "../../en/shell/help";

export const help: HelpWords = {
  title: "Ayuda",
  field: "Pregunta sobre Duologue (en inglés)",
  topics: "Preguntas frecuentes",
  questions: [
    "How do I get a better model?",
    "How do I connect another server?",
    "How do I start a voice call?",
    "How do I add users?",
    "How do I reach it from my phone?",
    "How do I make a backup?",
  ],
  found: (count) => (count === 1 ? "1 sección" : `${count} secciones`),
  nothing: "Sin resultados. Prueba con otras palabras.",
  inEnglish: "La documentación está en inglés.",
};
