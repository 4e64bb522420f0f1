import type { VoiceButtonsWords } from "../../en/voice/voice_buttons";

export const voiceButtons: VoiceButtonsWords = {
  kinds: { voice: "Appeler", camera: "Appeler avec la caméra", screen: "Appeler et partager l’écran" },
  ways: "Façons d’appeler",
  onCall: "Revenir à l’appel",
  blind: (model) => `${model} ne voit pas les images. Chargez un modèle qui les voit.`,
  blindHere: (model, other) => `${model} ne voit pas les images. Choisissez un modèle qui les voit, comme ${other}.`,
  noVoice: "La voix n’est pas installée. Exécutez pip install 'duologue[voice]' sur le serveur et redémarrez-le.",
  noVoiceHere: (model) => `Ce modèle a besoin d’une voix sur le serveur pour les appels. Choisissez ${model}, qui parle lui-même.`,
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
