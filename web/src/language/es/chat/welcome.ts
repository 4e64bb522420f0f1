import type { WelcomeWords } from "../../en/chat/welcome";

export const welcome: WelcomeWords = {
  title: "¿En qué te puedo ayudar?",
  answers: (model) => `Responde ${model}.`,
  bundled: "Es diminuto: sirve para un saludo o cuentas sencillas, y suele fallar en lo demás.",
  better: "Obtener un modelo mejor",
  looking: "Comprobando este equipo",
  proposal: (model, size, fit) => `${model} · ${size} · ${fit}`,
  installed: (model, fit) => `${model} · ya descargado · ${fit}`,
  getting: (model) => `Descargando ${model}. Puedes cerrar esta página.`,
  more: "Más modelos",
  none: "Ningún modelo recomendado cabe en este equipo.",
  askAdmin: "Pide a un administrador un modelo mejor.",
  examplesLabel: "Ejemplos",
  examples: ["Explica cómo funcionan las vacunas", "Felicita a un amigo por su cumpleaños", "Planea un fin de semana en Lisboa", "Corrige un error en mi código"],
  // The bundled model only knows English.
  bundledExamples: ["Hello! Who are you?", "What is 6 times 7?", "Which is larger, 12 or 21?", "Tell me a joke"],
  previous: "Volver al chat anterior",
};
