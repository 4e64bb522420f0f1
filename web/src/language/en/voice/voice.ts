import type { MicrophoneFault } from "../../../voice/audio/microphone";
import type { CallState } from "../../../voice/call/protocol";
import { localised } from "../../language.svelte";

const faults: Readonly<Record<MicrophoneFault, string>> = {
  insecure:
    "Browsers allow the microphone only over https or on the same machine. Start the server with duologue serve --tls and open its https address.",
  unsupported: "This browser doesn’t support microphones.",
  denied: "Microphone access is blocked. Allow it in your browser’s site settings, then try again.",
  none: "No microphone found. Connect one, then try again.",
  busy: "Another program is using the microphone. Close it, then try again.",
  failed: "Couldn’t start the microphone.",
};

const states: Readonly<Record<CallState, string>> = {
  listening: "Listening",
  hearing: "Hearing you",
  thinking: "Thinking",
  speaking: "Speaking",
  paused: "Paused",
  waiting: "Waiting",
};

const english = {
  faults,
  states,
  call: "Call",
  calling: "Calling",
  callingAgain: "Connection lost. Reconnecting",
  over: "Call ended",
  ended: "The server ended the call.",
  unreachable: "Connection lost. The conversation is in the chat.",
  noSound: "Couldn’t start audio. Try again or use another browser.",
  insecureSound:
    "Browsers allow this audio only over https or on the same machine. Start the server with duologue serve --tls and open its https address.",
  otherMicrophone: "Microphone disconnected. Switched to another one.",
  tryAgain: "Try again",
  close: "Close",
  place: (position: number) => (position <= 1 ? "You are next" : `Number ${position} in the queue`),
  wait: (seconds: number) => (seconds < 90 ? `about ${Math.max(1, Math.round(seconds))} s` : `about ${Math.round(seconds / 60)} min`),
  muted: "You’re muted",
  holdHint: "Hold the button or the space bar to talk",
  openHint: "Just talk. You can interrupt at any time.",

  captions: "Captions",
  you: "You",
  notUnderstood: "Didn’t catch that",
  cutOff: "interrupted",

  mute: "Mute",
  unmute: "Unmute",
  holdToTalk: "Hold to talk",
  release: "Release to send",
  hold: "Hold to talk",
  interrupt: "Interrupt",
  interruptKey: "Interrupt (Esc)",
  hangUp: "Hang up",
  shrink: "Show chat",
  grow: "Show call",
  otherLoudspeaker: "Can’t use that speaker. Using the browser’s default.",
  loudspeaker: "Speaker",
  loudspeakerDetail: "For calls and reading aloud on this device.",
  loudspeakerNumber: (number: number) => `Speaker ${number}`,
  asks: "Your approval is needed",
  answerAloud: "Choose here, or say yes or no.",
  answerKeys: "Choose here, press Y or N, or say yes or no.",
  usedTool: "Tool",
  microphone: "Microphone",
  microphoneNumber: (number: number) => `Microphone ${number}`,
  browserChoice: "Browser default",
  options: "Call options",
  type: "Type a message",
  typeHere: "Type instead of talking",
  send: "Send",

  finishDictation: "Finish dictation",
  cancelDictation: "Cancel dictation",
  dictating: "Listening. Your words appear here.",
  writing: "Transcribing",
  nothingUnderstood: "Couldn’t understand that.",
  tooFast: "The server couldn’t keep up. Some words were skipped.",

  spokenMessage: "Voice message",
  recordingName: "Voice message.wav",
  opening: "Waiting for microphone access",
  handsFree: "Just talk. It sends when you pause.",
  sendingMessage: "Transcribing",
  discard: "Discard voice message",
  nothingHeard: "No speech heard. Check the microphone in Settings.",
  chatLeft: "You left the chat before this was transcribed. Go back and try again, or discard it.",

  speechBroke: "Playback was interrupted.",
  otherVoice: (voice: string) => (voice === "" ? "The chosen voice isn’t available in this call. The default voice speaks." : `The chosen voice isn’t available in this call. ${voice} speaks.`),
  voiceGone: (voice: string) => `The voice ${voice} is no longer on this server. The default voice speaks instead.`,
  codeBlock: "Code.",

  speaking: "Speaking",
  listening: "Listening",
  voice: "Voice",
  voiceDetail: "For calls and reading aloud.",
  serverVoice: (name: string) => (name === "" ? "Server default" : `Server default: ${name}`),
  tryVoice: "Preview",
  sample: "Hello. This is how I sound.",
  speed: "Speed",
  speedDetail: "1 is normal.",
  holdDetail: "In calls, hold a button or the space bar while you talk.",
  cleaned: "Reduce noise and echo",
  cleanedDetail: "On this device. Turn it off only with headphones and a good microphone.",
  microphoneDetail: "On this device.",
};

export type VoiceWords = typeof english;

export const voice = (): VoiceWords => localised("voice", english);
