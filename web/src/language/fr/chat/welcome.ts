import type { WelcomeWords } from "../../en/chat/welcome";
import { of } from "../elision";

export const welcome: WelcomeWords = {
  title: "Comment vous aider ?",
  answers: (model) => `${model} répond.`,
  bundled: "Il est minuscule et ne parle qu’anglais : bon pour un bonjour ou un calcul simple, souvent faux sinon.",
  better: "Obtenir un meilleur modèle",
  looking: "Examen de cette machine",
  proposal: (model, size, fit) => `${model} · ${size} · ${fit}`,
  installed: (model, fit) => `${model} · déjà téléchargé · ${fit}`,
  getting: (model) => `Téléchargement ${of(model)}. Vous pouvez fermer cette page.`,
  more: "Plus de modèles",
  none: "Aucun modèle recommandé ne convient à cette machine.",
  askAdmin: "Demandez un meilleur modèle à un administrateur.",
  examplesLabel: "Exemples",
  examples: ["Explique l’effet des vaccins", "Écris un mot d’anniversaire", "Prépare un week-end à Lisbonne", "Corrige un bug dans mon code"],
  bundledExamples: ["Hello! Who are you?", "What is 6 times 7?", "Which is larger, 12 or 21?", "Tell me a joke"],
  previous: "Retour au chat précédent",
};
