import { localised } from "../../language.svelte";

// Texts about speech in the page's first load; the rest is in voice.ts and loaded with it.
const english = {
  kinds: { voice: "Call", camera: "Call with camera", screen: "Call and share the screen" },
  ways: "Ways to call",
  onCall: "Back to the call",
  blind: (model: string) => `${model} can’t see pictures. Load a model that can.`,
  blindHere: (model: string, other: string) => `${model} can’t see pictures. Choose a model that can, such as ${other}.`,
  noVoice: "Voice isn’t installed. Run pip install 'duologue[voice]' on the server and restart it.",
  noVoiceHere: (model: string) => `This model needs a voice on the server for calls. Choose ${model}, which speaks by itself.`,
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
