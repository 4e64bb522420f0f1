import { localised } from "../../language.svelte";

const english = {
  title: "Your voices",
  detail: "Record a voice once, then choose it below. Only you can use it.",
  cannot: "The speech engine in use can’t imitate recordings, so another voice speaks instead.",
  add: "Add a voice",
  name: "Name",
  firstName: "My voice",
  advice: "Read something aloud for about ten seconds in a quiet room, or choose a sound file of 1 to 30 seconds.",
  record: "Record",
  stop: "Stop recording",
  again: "Record again",
  file: "Choose a file",
  recording: (seconds: number) => `Recording, ${seconds} s`,
  recorded: (seconds: number) => `Recorded, ${seconds} s`,
  consent: "This is my voice, or its speaker agreed that it is imitated here.",
  consentDetail: "Your consent is kept with the recording. Delete it at any time.",
  save: "Save",
  saving: "Saving",
  play: "Play",
  playName: (name: string) => `Play ${name}`,
  stopName: (name: string) => `Stop ${name}`,
  stopPlaying: "Stop",
  more: (name: string) => `More about ${name}`,
  edit: "Edit",
  editTitle: "Edit voice",
  said: "What is said in it",
  saidDetail: "Some speech engines need it.",
  write: "Transcribe",
  share: "Share with everyone",
  unshare: "Stop sharing",
  shared: "Shared",
  others: "Shared with you",
  remove: "Delete",
  removeAsk: (name: string) => `Delete ${name}?`,
  removeDetail: "The recording is deleted for good.",
  broken: "Can’t play the recording.",
};

export type OwnVoicesWords = typeof english;

export const ownVoices = (): OwnVoicesWords => localised("ownVoices", english);
