import type { ModelChoiceWords } from "../../en/models/model_choice";

export const modelChoice: ModelChoiceWords = {
  gone: (wanted) => `${wanted} ist nicht mehr verfügbar.`,
  failed: (wanted) => `${wanted} konnte nicht geladen werden.`,
  unloaded: (wanted) => `${wanted} ist nicht geladen. Nur ein Admin kann es laden.`,
  instead: (model) => `Stattdessen antwortet ${model}.`,
  nothingInstead: "Kein anderes Modell ist geladen.",
  willLoad: (wanted) => `${wanted} ist nicht geladen. Beim Senden wird es zuerst geladen.`,
  choose: "Modell auswählen",
  models: "Modelle öffnen",

  unreachable: "Server nicht erreichbar",
  unreachableAbout: "Er läuft vielleicht nicht, oder dieses Gerät ist offline. Neuer Versuch …",
  none: "Kein Modell geladen",
  noneAbout: "Lade eines auf der Seite Modelle, dann kannst du chatten.",
  noneForOthers: "Bitte einen Admin, eines zu laden.",
  starting: "Das Modell startet",
  broken: "Das Modell konnte nicht gestartet werden",
};
