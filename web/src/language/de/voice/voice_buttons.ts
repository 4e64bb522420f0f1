import type { VoiceButtonsWords } from "../../en/voice/voice_buttons";

export const voiceButtons: VoiceButtonsWords = {
  kinds: { voice: "Anrufen", camera: "Mit Kamera anrufen", screen: "Anrufen und Bildschirm teilen" },
  ways: "Arten des Anrufs",
  onCall: "Zurück zum Anruf",
  blind: (model) => `${model} sieht keine Bilder. Lade ein Modell, das welche sieht.`,
  blindHere: (model, other) => `${model} sieht keine Bilder. Wähle ein Modell, das welche sieht, etwa ${other}.`,
  noVoice: "Sprachfunktionen sind nicht installiert. Führe auf dem Server pip install 'duologue[voice]' aus und starte ihn neu.",
  noVoiceHere: (model) => `Dieses Modell braucht für Anrufe eine Stimme auf dem Server. Wähle ${model}, das selbst spricht.`,
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
