import type { RecordingEnd, Stage } from "../../../wire/voice/recordings";
import { localised } from "../../language.svelte";

const ends: Readonly<Record<RecordingEnd, string>> = {
  "": "Recording now",
  ended: "",
  stopped: "Stopped",
  cut: "Cut off when the server stopped",
  disk_full: "Ended: disk full",
  slow_disk: "Ended: disk too slow",
  full: "Ended: storage limit reached",
  failed: "Ended: an error occurred",
};

const stages: Readonly<Record<Stage, string>> = {
  endpoint: "End of turn",
  transcript: "Transcript",
  first_text: "First word",
  first_clause: "First clause",
  first_sound: "First sound",
  first_heard: "Heard",
  interrupted: "Interrupted",
};

const english = {
  ends,
  stages,
  detail: "Calls you chose to record. Only you can see them.",
  keep: (days: number, used: string, limit: string) => `Deleted after ${days} days. ${used} of ${limit} used.`,
  none: "No recordings yet. To make one, start a call and turn on Record this call in its options.",
  forbidden: "Recording is turned off on this server.",
  kinds: { call: "Call", duplex: "Live session", chat: "Spoken chat" },
  show: (name: string) => `Show ${name}`,
  hide: (name: string) => `Hide ${name}`,
  remove: "Delete",
  removeOf: (name: string) => `Delete ${name}`,
  removeSure: (name: string) => `Delete the recording “${name}”?`,
  removeDetail: "Its sound, pictures and text can’t be restored.",
  sound: "Download sound",
  soundOf: "Sound of the call",
  timeline: "Download timeline",
  waveform: "Waveform: you above, the assistant below",
  assistant: "Assistant",
  said: "What was said",
  goTo: (time: string) => `Play from ${time}`,
  picture: "What the camera showed",
  latencies: "Response times",
  latenciesDetail: "Milliseconds from the end of what you said.",
  turn: "Turn",
  notHeard: "not heard:",
  record: "Record this call",
  recordDetail: "Saves both sides’ sound and text. Only you can see it.",
  recording: "Recording",
  stopped: "Recording ended.",
};

export type RecordingsWords = typeof english;

export const recordings = (): RecordingsWords => localised("recordings", english);
