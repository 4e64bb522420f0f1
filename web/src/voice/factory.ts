// Creates calls, dictations, voice messages and reading aloud from the browser's devices and sockets and the page's
// state. The composition root of this folder; loaded on demand.
import type { Chat } from "../chat/chat.svelte";
import type { ChosenModel } from "../chat/chosen_model.svelte";
import type { Preferences } from "../settings/preferences.svelte";
import type { TextStorage } from "../settings/storage";
import type { Clock } from "../wire/transport/clock";
import type { ConversationClient } from "../wire/chat/conversations";
import { type Fetch, problemOf } from "../wire/transport/http";
import { synthesise, transcribe } from "../wire/voice/speech";
import { currentLanguage } from "../language/language.svelte";
import type { Uploader } from "../wire/transport/upload";
import { voice as words } from "../language/en/voice/voice";
import { listCameras } from "../capture/camera";
import { Call } from "./call/call.svelte";
import type { CallFilm } from "./video_stream/call_film";
import { AvatarClient } from "../wire/voice/avatars";
import { setAudioSession } from "./audio/audio_context";
import { readChoice, writeChoice } from "./audio/microphone_choice";
import { Dictation } from "./recording/dictation.svelte";
import { socketOpener, voiceAddress } from "./call/socket";
import { listMicrophones, openMicrophone } from "./audio/microphone";
import { ReadAloud } from "./read_aloud.svelte";
import { keepScreenOn } from "./call/wake_lock";
import { listOutputs, readOutput, routeTo, writeOutput } from "./audio/output_device";
import { openSpeaker, type Speaker } from "./audio/speaker";
import type { PlayoutReport } from "./audio/playout";
import { StoredVoice } from "./stored_voice";
import type { VideoSource } from "./video/call_video.svelte";
import { canShareScreen, openCameraFrames, openScreenFrames } from "./video/frame_source";
import { VoiceMessage } from "./recording/voice_message.svelte";

export interface VoiceDependencies {
  readonly chat: Chat;
  readonly chosen: ChosenModel;
  readonly preferences: Preferences;
  readonly client: ConversationClient;
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** Settings of this device, such as its microphone. */
  readonly storage: TextStorage;
  /** Whether the current model accepts audio. */
  readonly acceptsAudio: () => boolean;
  readonly upload: Uploader;
  readonly reportProblem: (sentence: string) => void;
  /** A chunk of the page could not be loaded. */
  readonly onLoadFailure: () => void;
}

/** The page's one, so that a voice that is gone is said once. */
let sharedVoice: StoredVoice | null = null;

function storedVoice({ fetch, preferences, reportProblem }: VoiceDependencies): StoredVoice {
  sharedVoice ??= new StoredVoice({ fetch, chosen: () => preferences.page.voice, sayReplaced: (voice) => reportProblem(words().voiceGone(voice)) });
  return sharedVoice;
}

interface Startable {
  readonly start: () => Promise<void>;
}

function closer(context: AudioContext | null): () => void {
  return () => {
    if (context && context.state !== "closed") void context.close();
  };
}

function withSound<Opened>(context: AudioContext | null, open: (context: AudioContext) => Promise<Opened>): Promise<Opened> {
  return context ? open(context) : Promise.reject(new Error("no sound"));
}

/** Opens the loudspeaker, on the output device chosen for this browser if there is one. */
function openLoudspeaker(context: AudioContext | null, storage: TextStorage, onReport: (report: PlayoutReport) => void): Promise<Speaker> {
  return withSound(context, async (sound) => {
    const device = readOutput(storage);
    if (device !== "") await routeTo(sound, device);
    return openSpeaker(sound, onReport);
  });
}

/** The video of the face, where the person wants the server to render it and it can; null otherwise, and for people who want less motion. */
async function openFilm({ fetch, preferences, clock }: VoiceDependencies): Promise<CallFilm | null> {
  const { show_face, rendered_face, face } = preferences.page;
  if (!show_face || !rendered_face || matchMedia("(prefers-reduced-motion: reduce)").matches) return null;
  try {
    const [{ streamedFace }, { StreamedFilm }] = await Promise.all([import("./video_stream/stream_offer"), import("./video_stream/streamed_film")]);
    const avatar = await streamedFace(new AvatarClient(fetch), face);
    return avatar === null ? null : new StreamedFilm(avatar, () => clock.now());
  } catch {
    // A part of the page that could not be loaded: the face is drawn.
    return null;
  }
}

/** `video`: the call begins with it. */
export function createCall(context: AudioContext | null, deps: VoiceDependencies, video: VideoSource | null, onEnd: () => void): Startable & { readonly call: Call } {
  const { chat, chosen, preferences, client, clock, storage } = deps;
  let conversation: string | null = null;
  let created = false;
  const call = new Call(
    {
      openSocket: socketOpener(() => new WebSocket(voiceAddress(document.baseURI))),
      microphone: (choice, listener) => withSound(context, (sound) => openMicrophone(sound, choice, listener)),
      speaker: (onReport) => openLoudspeaker(context, storage, onReport),
      microphones: listMicrophones,
      outputs: {
        list: listOutputs,
        current: () => readOutput(storage),
        async use(device) {
          const routed = context !== null && (await routeTo(context, device));
          writeOutput(storage, routed ? device : "");
          return routed;
        },
      },
      video: { openCamera: openCameraFrames, openScreen: openScreenFrames, listCameras, canShareScreen: canShareScreen(), storage },
      keepScreenOn: keepScreenOn,
      release: closer(context),
      clock,
      async startOptions() {
        if (conversation === null) {
          created = chat.id === null;
          const answer = await chat.ensureConversation();
          if (answer.kind !== "ok") return problemOf(answer);
          conversation = answer.value;
        }
        const voice = await storedVoice(deps).usable();
        const film = await openFilm(deps);
        return { conversation, model: chosen.loadedName, voice, speed: preferences.page.voice_speed, language: "", film };
      },
      choice: () => readChoice(storage),
      saveMicrophone: (device) => writeChoice(storage, { ...readChoice(storage), device }),
      onConversationChanged: () => chat.handleEvent({ type: "reset" }),
      saveHoldToTalk: (holds) => preferences.change({ page: { hold_to_talk: holds } }),
      onEnd() {
        onEnd();
        // Delete a conversation created for a call in which nothing was said.
        if (created && conversation !== null && !call.hasContent && chat.id === conversation && chat.shown.length === 0) {
          void client.bulk([conversation], "delete");
          chat.onRemoved(conversation);
        }
      },
    },
    preferences.page.hold_to_talk,
  );
  return { call, start: () => call.start(video) };
}

export function createDictation(
  context: AudioContext | null,
  { fetch, clock, storage, reportProblem }: VoiceDependencies,
  insert: (text: string) => void,
  onEnd: () => void,
  language: string = currentLanguage(),
): Startable & { readonly dictation: Dictation } {
  const release = closer(context);
  const dictation = new Dictation({
    microphone: (listener) => withSound(context, (sound) => openMicrophone(sound, readChoice(storage), listener)),
    transcribe: (wav, signal) => transcribe(fetch, wav, language, signal),
    insert,
    clock,
    reportProblem,
    onEnd() {
      release();
      onEnd();
    },
  });
  return { dictation, start: () => dictation.begin() };
}

export function createVoiceMessage(context: AudioContext | null, { chat, fetch, clock, storage, acceptsAudio, upload, reportProblem }: VoiceDependencies, onEnd: () => void): Startable & { readonly message: VoiceMessage } {
  const release = closer(context);
  const { page } = chat;
  const message = new VoiceMessage({
    microphone: (listener) => withSound(context, (sound) => openMicrophone(sound, readChoice(storage), listener)),
    transcribe: (wav, signal) => transcribe(fetch, wav, currentLanguage(), signal),
    clock,
    reportProblem,
    acceptsAudio,
    async send(text, recording) {
      const stored = recording && (await upload(new File([recording], words().recordingName, { type: "audio/wav" }), () => {}).answer);
      if (stored && stored.kind !== "ok") return problemOf(stored);
      // The message was meant for the chat that was open when it was recorded.
      if (chat.page !== page) return words().chatLeft;
      const file = stored && ({ type: "audio", blob: stored.value.hash, mime: stored.value.mime, name: words().recordingName } as const);
      chat.send(text, file ? [file] : []);
      return "";
    },
    onEnd() {
      release();
      setAudioSession("playback");
      onEnd();
    },
  });
  return { message, start: () => message.begin() };
}

export function createReadAloud(context: AudioContext | null, deps: VoiceDependencies, onEnd: () => void): ReadAloud {
  const { fetch, preferences, storage, reportProblem } = deps;
  const voice = storedVoice(deps);
  const release = closer(context);
  return new ReadAloud({
    speaker: (onReport) => openLoudspeaker(context, storage, onReport),
    speech: (text, signal, onMouth) =>
      synthesise(fetch, { text, voice: voice.chosen, speed: preferences.page.voice_speed }, signal, { onReplaced: (gone) => voice.onReplaced(gone), ...(preferences.page.show_face ? { onMouth } : {}) }),
    reportProblem,
    onEnd() {
      release();
      onEnd();
    },
  });
}
