import { localised } from "../../language.svelte";

// Texts about speech in the page's first load; the rest is in voice.ts and loaded with it.
const english = {
  call: "Call",
  onCall: "Back to the call",
  noVoice: "Voice isn’t installed. Run pip install 'duologue[voice]' on the server and restart it.",
  dictate: "Dictate",
  dictateDetail: "Speak to fill the message field",
  speak: "Voice message",
  speakHandsFree: "Sent when you stop talking",
  sendSpoken: "Send voice message",
  response: "Voice replies",
  responseDetail: "Read replies aloud as they’re written",
  readOut: "Read aloud",
  stopReading: "Stop reading",
};

export type VoiceButtonsWords = typeof english;

export const voiceButtons = (): VoiceButtonsWords => localised("voiceButtons", english);
