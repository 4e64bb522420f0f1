import type { MicrophoneFault } from "../../voice/audio/microphone";
import type { CallState } from "../../voice/call/protocol";
import { localised } from "../language.svelte";

const faults: Readonly<Record<MicrophoneFault, string>> = {
  insecure:
    "There is no microphone here: this page came over plain http, and browsers give a microphone only to pages that came over https or from the same machine. Start the server with duologue serve --tls and open its https address.",
  unsupported: "This browser has no microphone to offer.",
  denied: "The browser does not allow this page the microphone. Allow it in the browser’s settings of this page, and try again.",
  none: "There is no microphone on this device. Plug one in, and try again.",
  busy: "Another program has the microphone. End it there, and try again.",
  failed: "The microphone could not be started.",
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
  callingAgain: "The line was lost. Calling again",
  over: "The call is over",
  ended: "The server ended the call.",
  unreachable: "The line was lost, and nobody answers. What was said is in the chat.",
  noSound: "This browser could not start its sound. Try again, or use another browser.",
  insecureSound:
    "Nothing can be read out here: this page came over plain http, and browsers let only pages speak this way that came over https or from the same machine. Start the server with duologue serve --tls and open its https address.",
  otherMicrophone: "The microphone is gone. Another one is used now.",
  tryAgain: "Try again",
  close: "Close",
  place: (position: number) => (position <= 1 ? "You are next" : `Place ${position} in the queue`),
  wait: (seconds: number) => (seconds < 90 ? `about ${Math.max(1, Math.round(seconds))} s` : `about ${Math.round(seconds / 60)} min`),
  muted: "Your microphone is off",
  holdHint: "Hold the button or the space bar while you talk",
  openHint: "Just talk. You can interrupt at any time.",

  captions: "What is said",
  you: "You",
  notUnderstood: "I could not make that out",
  cutOff: "interrupted",

  mute: "Turn the microphone off",
  unmute: "Turn the microphone on",
  holdToTalk: "Hold to talk",
  release: "Talking: let go to send",
  hold: "Hold to talk",
  interrupt: "Interrupt",
  interruptKey: "Interrupt (Esc)",
  hangUp: "Hang up",
  shrink: "Show the chat",
  grow: "Show the call",
  otherLoudspeaker: "That loudspeaker cannot be used. Sound comes where the browser sends it.",
  loudspeaker: "Loudspeaker",
  loudspeakerDetail: "For calls and what is read out, on this device.",
  loudspeakerNumber: (number: number) => `Loudspeaker ${number}`,
  asks: "A question for you",
  answerAloud: "Answer here, or say yes or no.",
  answerKeys: "Answer here, press Y or N, or say yes or no.",
  usedTool: "Tool",
  microphone: "Microphone",
  microphoneNumber: (number: number) => `Microphone ${number}`,
  browserChoice: "The browser’s choice",
  options: "Options of the call",
  type: "Write into the call",
  typeHere: "Write instead of talking",
  send: "Send",

  finishDictation: "Done dictating",
  cancelDictation: "Throw away what was not written yet",
  dictating: "Listening. What you say is written here.",
  writing: "Writing down",
  nothingUnderstood: "Nothing was understood.",
  tooFast: "The server is behind with writing. Part of it was left out.",

  spokenMessage: "Voice message",
  recordingName: "Voice message.wav",
  opening: "The browser is asked for the microphone",
  letGo: "Let go to send. Slide away to throw it away.",
  letGoKey: "Let go to send. Esc throws it away.",
  thrownAway: "Let go to throw it away",
  handsFree: "Just talk. Silence sends it.",
  sendingMessage: "Writing down what you said",
  discard: "Throw the voice message away",
  nothingHeard: "Nothing was heard, so nothing was sent. Look whether the right microphone is chosen in the settings.",
  chatLeft: "You left the chat before this was written down. Go back to it and try again, or throw it away.",

  speechBroke: "The speech broke off.",
  codeBlock: "Code.",

  speaking: "Speaking",
  listening: "Listening",
  voice: "Voice",
  voiceDetail: "Who speaks, in calls and when something is read out.",
  serverVoice: (name: string) => (name === "" ? "The server’s choice" : `The server’s choice: ${name}`),
  tryVoice: "Hear it",
  sample: "Hello. This is how I sound.",
  speed: "Speed",
  speedDetail: "1 is the voice’s own.",
  holdDetail: "In a call you hold a button, or the space bar, while you talk; silence ends nothing.",
  cleaned: "Clean up the microphone",
  cleanedDetail: "The browser takes away echo and noise. Turn it off only with headphones and a good microphone. For this device.",
  microphoneDetail: "For this device.",
};

export type VoiceWords = typeof english;

export const voice = (): VoiceWords => localised("voice", english);
