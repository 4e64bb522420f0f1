import type { VoiceButtonsWords } from "../en/voice_buttons";

export const voiceButtons: VoiceButtonsWords = {
  call: "Anrufen",
  onCall: "Zurück zum Anruf",
  noVoice: "Dieser Server hat noch keine Stimme. Installiere sie auf dem Server mit pip install 'duologue[voice]' und starte ihn neu.",
  dictate: "Diktieren",
  dictateDetail: "Was du sagst, wird in das Nachrichtenfeld geschrieben",
  speak: "Sprachnachricht",
  speakDetail: "Beim Sprechen halten, Loslassen sendet; oder einmal drücken und freihändig sprechen",
  sendSpoken: "Die Sprachnachricht senden",
  response: "Antworten sprechen",
  responseDetail: "Antworten werden vorgelesen, während sie geschrieben werden",
  readOut: "Vorlesen",
  stopReading: "Nicht weiter vorlesen",
};
