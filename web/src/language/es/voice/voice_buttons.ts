import type { VoiceButtonsWords } from "../../en/voice/voice_buttons";

export const voiceButtons: VoiceButtonsWords = {
  kinds: { voice: "Llamar", camera: "Llamar con cámara", screen: "Llamar y compartir la pantalla" },
  ways: "Formas de llamar",
  onCall: "Volver a la llamada",
  blind: (model) => `${model} no ve imágenes. Carga un modelo que las vea.`,
  blindHere: (model, other) => `${model} no ve imágenes. Elige un modelo que las vea, como ${other}.`,
  noVoice: "La voz no está instalada. Ejecuta pip install 'duologue[voice]' en el servidor y reinícialo.",
  noVoiceHere: (model) => `Este modelo necesita una voz en el servidor para las llamadas. Elige ${model}, que habla por sí mismo.`,
  dictate: "Dictar",
  dictateDetail: "Habla para rellenar el campo de mensaje",
  speak: "Mensaje de voz",
  speakHandsFree: "Se envía cuando dejas de hablar",
  sendSpoken: "Enviar mensaje de voz",
  response: "Respuestas de voz",
  responseDetail: "Lee las respuestas en voz alta",
  readOut: "Leer en voz alta",
  stopReading: "Detener lectura",
};
