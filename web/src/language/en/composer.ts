import { localised } from "../language.svelte";

const english = {
  message: "Message",
  say: (speaker: string) => (speaker === "" ? "Say something" : `Say something to ${speaker}`),
  send: "Send",
  sendLater: "Say it after this reply",
  stop: "Stop",
  hints: {
    sends: "sends",
    breaks: "breaks the line",
    stops: "stops",
    later: "says it after this reply",
    now: "at its next step",
  },

  add: "Add",
  files: "Files",
  filesDetail: (most: number, megabytes: number) => `Up to ${most}, each up to ${megabytes} MB`,
  filesToAttach: "Files to attach",
  prompts: "Prompts",
  promptsDetail: "Of tool servers; or type / on an empty line",
  resources: "Resources",
  resourcesDetail: "Of tool servers; or type @",
  streaming: "Show replies while they are written",

  model: "Model",
  parameters: (count: string) => `${count} parameters`,
  context: (tokens: string) => `${tokens} tokens of context`,
  takes: { image: "sees pictures", audio: "hears sound", video: "watches videos" } as Readonly<Record<string, string>>,
  loading: "is being loaded",
  failed: "could not be started",
  offline: "is not there at the moment",
  models: "Models of this server",

  thinking: "Thinking",
  thinkingAt: (level: string) => `Thinking: ${level}`,
  levels: { off: "Off", on: "On", low: "Low", medium: "Medium", high: "High", free: "No limit" },
  levelDetails: { off: "Answers at once", on: "Thinks before it answers", low: "A little", medium: "As most things need", high: "For what is hard", free: "As long as it likes" },

  tools: "Tools",
  toolsOff: "Tools: off",

  attached: "Attached files",
  file: "File",
  sending: (name: string) => `Sending ${name}`,
  remove: "Remove",
  removeFile: (name: string) => `Remove ${name || "file"}`,
  retry: "Try again",
  retryFile: (name: string) => `Try again: ${name}`,
  open: (name: string) => `Open ${name}`,
  tooMany: (most: number, left: number) =>
    `At most ${most} files go with a message (setting limits.attachments). ${left} ${left === 1 ? "was" : "were"} left out.`,
  tooLarge: (megabytes: number) => `It is larger than ${megabytes} MB; the setting limits.blob_mb raises the limit.`,
  givenAs: (name: string) => `How ${name} is given`,
  given: { auto: "As suits", text: "As text", pages: "As pages" },
  givenDetails: { auto: "The server chooses", text: "What is written in it", pages: "A picture of each page" },
  cannotTake: (model: string, what: string) => `${model} cannot take ${what}. It will be left out.`,
  kinds: { image: "pictures", audio: "sound", video: "videos" },
  giveText: "Give its text",
  askOther: (model: string) => `Ask ${model}`,

  pastedName: (count: number) => (count > 1 ? `Pasted text ${count}.txt` : "Pasted text.txt"),
  pasted: "The long text was attached as a file.",
  pasteAsText: "Paste as text",

  newerDraft: "What was written later on another device is here now.",
  bringBack: "Bring mine back",
  otherDraft: "Something else was written here on another device.",
  takeOther: "Take that",

  waiting: "Waiting message",
  waits: "Said when this reply is done",
  goesIn: "Goes in at the next step",
  stuck: "Not said yet: the reply before it did not end well",
  goesInSaid: "It goes in at the next step.",
  sayNow: "Say it now",
  edit: "Edit",
  countedFiles: (count: number) => (count === 1 ? "1 file" : `${count} files`),

  picture: "Picture",
  sound: "Sound",
  video: "Video",
  resource: "Resource",
};

export type ComposerWords = typeof english;

export const composer = (): ComposerWords => localised("composer", english);
