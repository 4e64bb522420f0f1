import type { VoiceButtonsWords } from "../../en/voice/voice_buttons";

export const voiceButtons: VoiceButtonsWords = {
  call: "Appeler",
  onCall: "Revenir à l’appel",
  noVoice: "La voix n’est pas installée. Exécutez pip install 'duologue[voice]' sur le serveur et redémarrez-le.",
  dictate: "Dicter",
  dictateDetail: "Parlez pour remplir le champ de message",
  speak: "Message vocal",
  speakHandsFree: "Envoyé quand vous cessez de parler",
  sendSpoken: "Envoyer le message vocal",
  response: "Réponses vocales",
  responseDetail: "Lit les réponses à mesure qu’elles s’écrivent",
  readOut: "Lire à voix haute",
  stopReading: "Arrêter la lecture",
};
