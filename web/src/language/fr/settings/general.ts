import type { GeneralWords } from "../../en/settings/general";

export const general: GeneralWords = {
  voice: "Voix",
  voiceDetail: "Voix, vitesse et micro.",
  openVoice: "Paramètres de la voix",
  advancedDetail: "Séquences d’arrêt, étapes avec outils et échantillonnage.",
  changed: (count) => (count < 2 ? `${count} modifié` : `${count} modifiés`),
};
