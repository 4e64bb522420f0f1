import type { VoiceButtonsWords } from "../../en/voice/voice_buttons";

export const voiceButtons: VoiceButtonsWords = {
  call: "Llamar",
  onCall: "Volver a la llamada",
  noVoice: "La voz no está instalada. Ejecuta pip install 'duologue[voice]' en el servidor y reinícialo.",
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
