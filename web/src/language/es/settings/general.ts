import type { GeneralWords } from "../../en/settings/general";

export const general: GeneralWords = {
  voice: "Voz",
  voiceDetail: "Voz, velocidad y micrófono.",
  openVoice: "Configuración de voz",
  advancedDetail: "Palabras de parada, pasos con herramientas y muestreo.",
  changed: (count) => (count === 1 ? "1 cambiado" : `${count} cambiados`),
};
