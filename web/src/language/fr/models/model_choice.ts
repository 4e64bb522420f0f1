import type { ModelChoiceWords } from "../../en/models/model_choice";

export const modelChoice: ModelChoiceWords = {
  gone: (wanted) => `${wanted} n’est plus disponible.`,
  failed: (wanted) => `Impossible de charger ${wanted}.`,
  unloaded: (wanted) => `${wanted} n’est pas chargé. Seul un administrateur peut le charger.`,
  instead: (model) => `${model} répond à sa place.`,
  nothingInstead: "Aucun autre modèle n’est chargé.",
  willLoad: (wanted) => `${wanted} n’est pas chargé. L’envoi d’un message le charge d’abord.`,
  choose: "Choisir un modèle",
  models: "Ouvrir Modèles",

  unreachable: "Serveur injoignable",
  unreachableAbout: "Il est peut-être arrêté, ou cet appareil est hors ligne. Nouvelle tentative…",
  none: "Aucun modèle n’est chargé",
  noneAbout: "Chargez-en un sur la page Modèles, puis commencez à discuter.",
  noneForOthers: "Demandez à un administrateur d’en charger un.",
  starting: "Le modèle démarre",
  broken: "Impossible de démarrer le modèle",
};
