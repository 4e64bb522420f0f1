// Puts a call, a dictation or a reading together from the browser's microphone, loudspeaker and sockets and the parts of
// the page. The composition root of this room.
import type { Chat } from "../chat/chat.svelte";
import type { Choices } from "../chat/choices.svelte";
import type { Preferences } from "../settings/preferences.svelte";
import type { Shelf } from "../settings/shelf";
import type { Clock } from "../wire/clock";
import type { ConversationClient } from "../wire/conversations";
import { type Fetch, problemOf } from "../wire/http";
import { speak, transcribe } from "../wire/speech";
import { currentTongue } from "../language/language.svelte";
import { Call } from "./call.svelte";
import { readChoice, writeChoice } from "./choice";
import { Dictation } from "./dictation.svelte";
import { lineTo, voiceAddress } from "./line";
import { microphones, openMicrophone } from "./microphone";
import { Reading } from "./reading.svelte";
import { openSpeaker } from "./speaker";

export interface VoiceParts {
  readonly chat: Chat;
  readonly choices: Choices;
  readonly preferences: Preferences;
  readonly client: ConversationClient;
  readonly ask: Fetch;
  readonly clock: Clock;
  /** What belongs to this device: its microphone. */
  readonly shelf: Shelf;
  readonly complain: (sentence: string) => void;
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

export function beginCall(context: AudioContext | null, { chat, choices, preferences, client, clock, shelf }: VoiceParts, gone: () => void): Begun & { readonly call: Call } {
  let conversation: string | null = null;
  let made = false;
  const call = new Call(
    {
      open: lineTo(() => new WebSocket(voiceAddress(document.baseURI))),
      microphone: (choice, listener) => sounding(context, (sound) => openMicrophone(sound, choice, listener)),
      speaker: (reported) => sounding(context, (sound) => openSpeaker(sound, reported)),
      microphones,
      release: closing(context),
      clock,
      async wanted() {
        if (conversation === null) {
          made = chat.id === null;
          const answer = await chat.named();
          if (answer.kind !== "ok") return problemOf(answer);
          conversation = answer.value;
        }
        const { voice, voice_speed: speed } = preferences.page;
        return { conversation, model: choices.current.model ?? "", voice, speed, language: "" };
      },
      choice: () => readChoice(shelf),
      chosen: (device) => writeChoice(shelf, { ...readChoice(shelf), device }),
      held: (holds) => preferences.change({ page: { hold_to_talk: holds } }),
      ended() {
        gone();
        // A chat that was begun for a call in which nothing was said is none.
        if (made && conversation !== null && !call.anything && chat.id === conversation && chat.shown.length === 0) {
          void client.bulk([conversation], "delete");
          chat.gone(conversation);
        }
      },
    },
    preferences.page.hold_to_talk,
  );
  return { call, ready: () => call.begin() };
}

export function beginDictation(
  context: AudioContext | null,
  { ask, clock, shelf, complain }: VoiceParts,
  insert: (text: string) => void,
  gone: () => void,
): Begun & { readonly dictation: Dictation } {
  const release = closing(context);
  const dictation = new Dictation({
    microphone: (listener) => sounding(context, (sound) => openMicrophone(sound, readChoice(shelf), listener)),
    transcribe: (wav, signal) => transcribe(ask, wav, currentTongue(), signal),
    insert,
    clock,
    complain,
    ended() {
      release();
      gone();
    },
  });
  return { dictation, ready: () => dictation.begin() };
}

export function beginReading(context: AudioContext | null, { ask, preferences, complain }: VoiceParts, gone: () => void): Reading {
  const release = closing(context);
  return new Reading({
    speaker: (reported) => sounding(context, (sound) => openSpeaker(sound, reported)),
    speech: (text, signal) => speak(ask, { text, voice: preferences.page.voice, speed: preferences.page.voice_speed }, signal),
    complain,
    ended() {
      release();
      gone();
    },
  });
}
