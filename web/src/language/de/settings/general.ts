import type { GeneralWords } from "../../en/settings/general";

export const general: GeneralWords = {
  voice: "Stimme",
  voiceDetail: "Stimme, Tempo und Mikrofon.",
  openVoice: "Stimmeinstellungen",
  advancedDetail: "Stoppwörter, Tool-Schritte und Sampling.",
  changed: (count) => `${count} geändert`,
};
