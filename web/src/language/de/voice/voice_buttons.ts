import type { VoiceButtonsWords } from "../../en/voice/voice_buttons";

export const voiceButtons: VoiceButtonsWords = {
  call: "Anrufen",
  onCall: "Zurück zum Anruf",
  noVoice: "Sprachfunktionen sind nicht installiert. Führe auf dem Server pip install 'duologue[voice]' aus und starte ihn neu.",
  dictate: "Diktieren",
  dictateDetail: "Ins Nachrichtenfeld sprechen",
  speak: "Sprachnachricht",
  speakHandsFree: "Wird gesendet, sobald du aufhörst zu sprechen",
  sendSpoken: "Sprachnachricht senden",
  response: "Antworten sprechen",
  responseDetail: "Antworten schon beim Schreiben vorlesen",
  readOut: "Vorlesen",
  stopReading: "Vorlesen beenden",
};
