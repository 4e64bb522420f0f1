import { localised } from "../language.svelte";

// Texts about speech in the page's first load; the rest is in voice.ts and loaded with it.
const english = {
  call: "Call",
  onCall: "Back to the call",
  noVoice: "This server has no voice yet. Install it on the server with pip install 'duologue[voice]' and start it again.",
  dictate: "Dictate",
  dictateDetail: "What you say is written into the message field",
  speak: "Voice message",
  speakDetail: "Hold while you talk and let go to send; or press once and talk hands-free",
  sendSpoken: "Send the voice message",
  response: "Voice response",
  responseDetail: "Replies are read out while they are written",
  readOut: "Read out",
  stopReading: "Stop reading",
};

export type VoiceButtonsWords = typeof english;

export const voiceButtons = (): VoiceButtonsWords => localised("voiceButtons", english);
