import { localised } from "../../language.svelte";

/** A sentence to hear a voice with, by language. */
export const SAMPLES: Readonly<Record<string, string>> = {
  en: "Hello. This is how I sound.",
  de: "Hallo. So klinge ich.",
  fr: "Bonjour. Voici ma voix.",
  es: "Hola. Así sueno yo.",
  zh: "你好。这就是我的声音。",
};

const variants: Readonly<Record<string, string>> = { small: "small" };

const english = {
  title: "Voice packs",
  detail: "Better speech recognition and voices, by language. Calls in progress aren’t interrupted.",
  variants,
  named: (languages: string, variant: string) => (variant === "" ? languages : `${languages}, ${variant}`),
  parts: (listens: string, speaks: string) => `Recognition by ${listens}, voice by ${speaks}.`,
  licences: "Licenses as their makers state them:",
  builtIn: "Built-in voice",
  builtInDetail: "Recognizes English, with mistakes. Speaks thirty languages with a synthetic voice. No download.",
  fromSettings: "The server’s settings",
  missing: (size: string) => `${size} to download`,
  tryIt: "Try it",
  tryName: (name: string) => `Try it: ${name}`,
  hideTry: "Done",
  hear: "Preview",
  say: "Say something",
  sayDetail: "Say a sentence to see what the server hears.",
  understood: "Heard:",
  useName: (name: string) => `Use ${name}`,
  removeAsk: (name: string) => `Remove ${name}?`,
  removeDetail: (size: string) => `This frees up to ${size}. You can download it again.`,
  remove: "Remove",
  adminOnly: "An admin of this server can add a better voice.",
};

export type VoicePacksWords = typeof english;

export const voicePacks = (): VoicePacksWords => localised("voicePacks", english);
