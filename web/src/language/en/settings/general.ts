import { localised } from "../../language.svelte";

/** The section that the settings open on. */
const english = {
  voice: "Voice",
  voiceDetail: "Voice, speed and microphone.",
  openVoice: "Voice settings",
  advancedDetail: "Stop words, tool steps and sampling.",
  changed: (count: number) => (count === 1 ? "1 changed" : `${count} changed`),
};

export type GeneralWords = typeof english;

export const general = (): GeneralWords => localised("general", english);
