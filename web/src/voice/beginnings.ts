// Puts a call, a dictation, a spoken message or a reading together from the browser's microphone, loudspeaker and sockets and the parts of
// the page. The composition root of this room.
import type { Chat } from "../chat/chat.svelte";
import type { Choices } from "../chat/choices.svelte";
import type { Preferences } from "../settings/preferences.svelte";
import type { TextStorage } from "../settings/storage";
import type { Clock } from "../wire/transport/clock";
import type { ConversationClient } from "../wire/conversations";
import { type Fetch, problemOf } from "../wire/transport/http";
import { synthesise, transcribe } from "../wire/speech";
import { currentTongue } from "../language/language.svelte";
import type { Uploader } from "../wire/transport/upload";
import { voice as words } from "../language/en/voice";
import { Call } from "./call/call.svelte";
import { routeSound } from "./audio/context";
import { readChoice, writeChoice } from "./audio/choice";
import { Dictation } from "./dictation/dictation.svelte";
import { lineTo, voiceAddress } from "./call/line";
import { microphones, openMicrophone } from "./audio/microphone";
import { Reading } from "./reading.svelte";
import { stayAwake } from "./call/awake";
import { outputs, readOutput, routeTo, writeOutput } from "./audio/outputs";
import { openSpeaker, type Speaker } from "./audio/speaker";
import type { PlayoutReport } from "./audio/playout";
import { Utterance } from "./dictation/utterance.svelte";

export interface VoiceParts {
  readonly chat: Chat;
  readonly choices: Choices;
  readonly preferences: Preferences;
  readonly client: ConversationClient;
  readonly ask: Fetch;
  readonly clock: Clock;
  /** What belongs to this device: its microphone. */
  readonly storage: TextStorage;
  /** Whether the model that answers takes sound. */
  readonly hears: () => boolean;
  readonly upload: Uploader;
  readonly reportProblem: (sentence: string) => void;
  /** A part of the page did not come. */
  readonly missing: () => void;
}

interface Begun {
  readonly ready: () => Promise<void>;
}

function closing(context: AudioContext | null): () => void {
  return () => {
    if (context && context.state !== "closed") void context.close();
  };
}

function sounding<Thing>(context: AudioContext | null, open: (context: AudioContext) => Promise<Thing>): Promise<Thing> {
  return context ? open(context) : Promise.reject(new Error("no sound"));
}

/** A loudspeaker; the one this device chose, where there is one. */
function loudspeaker(context: AudioContext | null, storage: TextStorage, reported: (report: PlayoutReport) => void): Promise<Speaker> {
  return sounding(context, async (sound) => {
    const chosen = readOutput(storage);
    if (chosen !== "") await routeTo(sound, chosen);
    return openSpeaker(sound, reported);
  });
}

export function beginCall(context: AudioContext | null, { chat, choices, preferences, client, clock, storage }: VoiceParts, gone: () => void): Begun & { readonly call: Call } {
  let conversation: string | null = null;
  let made = false;
  const call = new Call(
    {
      open: lineTo(() => new WebSocket(voiceAddress(document.baseURI))),
      microphone: (choice, listener) => sounding(context, (sound) => openMicrophone(sound, choice, listener)),
      speaker: (reported) => loudspeaker(context, storage, reported),
      microphones,
      outputs: {
        list: outputs,
        chosen: () => readOutput(storage),
        async use(device) {
          const done = context !== null && (await routeTo(context, device));
          writeOutput(storage, done ? device : "");
          return done;
        },
      },
      awake: stayAwake,
      release: closing(context),
      clock,
      async wanted() {
        if (conversation === null) {
          made = chat.id === null;
          const answer = await chat.ensureConversation();
          if (answer.kind !== "ok") return problemOf(answer);
          conversation = answer.value;
        }
        const { voice, voice_speed: speed } = preferences.page;
        return { conversation, model: choices.current.model ?? "", voice, speed, language: "" };
      },
      choice: () => readChoice(storage),
      chosen: (device) => writeChoice(storage, { ...readChoice(storage), device }),
      changed: () => chat.handleEvent({ type: "reset" }),
      held: (holds) => preferences.change({ page: { hold_to_talk: holds } }),
      ended() {
        gone();
        // A chat that was begun for a call in which nothing was said is none.
        if (made && conversation !== null && !call.anything && chat.id === conversation && chat.shown.length === 0) {
          void client.bulk([conversation], "delete");
          chat.onRemoved(conversation);
        }
      },
    },
    preferences.page.hold_to_talk,
  );
  return { call, ready: () => call.begin() };
}

export function beginDictation(
  context: AudioContext | null,
  { ask, clock, storage, reportProblem }: VoiceParts,
  insert: (text: string) => void,
  gone: () => void,
): Begun & { readonly dictation: Dictation } {
  const release = closing(context);
  const dictation = new Dictation({
    microphone: (listener) => sounding(context, (sound) => openMicrophone(sound, readChoice(storage), listener)),
    transcribe: (wav, signal) => transcribe(ask, wav, currentTongue(), signal),
    insert,
    clock,
    reportProblem,
    ended() {
      release();
      gone();
    },
  });
  return { dictation, ready: () => dictation.begin() };
}

export function beginUtterance(context: AudioContext | null, { chat, ask, clock, storage, hears, upload, reportProblem }: VoiceParts, gone: () => void): Begun & { readonly utterance: Utterance } {
  const release = closing(context);
  const { page } = chat;
  const utterance = new Utterance({
    microphone: (listener) => sounding(context, (sound) => openMicrophone(sound, readChoice(storage), listener)),
    transcribe: (wav, signal) => transcribe(ask, wav, currentTongue(), signal),
    clock,
    reportProblem,
    hears,
    async send(text, recording) {
      const sent = recording && (await upload(new File([recording], words().recordingName, { type: "audio/wav" }), () => {}).answer);
      if (sent && sent.kind !== "ok") return problemOf(sent);
      // It was said to whom was in sight then.
      if (chat.page !== page) return words().chatLeft;
      const file = sent && ({ type: "audio", blob: sent.value.hash, mime: sent.value.mime, name: words().recordingName } as const);
      chat.send(text, file ? [file] : []);
      return "";
    },
    ended() {
      release();
      routeSound("playback");
      gone();
    },
  });
  return { utterance, ready: () => utterance.begin() };
}

export function beginReading(context: AudioContext | null, { ask, preferences, storage, reportProblem }: VoiceParts, gone: () => void): Reading {
  const release = closing(context);
  return new Reading({
    speaker: (reported) => loudspeaker(context, storage, reported),
    speech: (text, signal) => synthesise(ask, { text, voice: preferences.page.voice, speed: preferences.page.voice_speed }, signal),
    reportProblem,
    ended() {
      release();
      gone();
    },
  });
}
