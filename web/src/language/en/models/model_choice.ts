import { localised } from "../../language.svelte";

const english = {
  gone: (wanted: string) => `${wanted} is no longer available.`,
  failed: (wanted: string) => `Couldn’t load ${wanted}.`,
  unloaded: (wanted: string) => `${wanted} is not loaded. Only an admin can load it.`,
  instead: (model: string) => `${model} answers instead.`,
  nothingInstead: "No other model is loaded.",
  willLoad: (wanted: string) => `${wanted} is not loaded. Sending a message loads it first.`,
  choose: "Choose a model",
  models: "Open Models",

  unreachable: "Can’t reach the server",
  unreachableAbout: "It may have stopped, or this device is offline. Retrying…",
  none: "No model is loaded",
  noneAbout: "Load one on the Models page, then start chatting.",
  noneForOthers: "Ask an admin to load one.",
  starting: "The model is starting",
  broken: "Couldn’t start the model",
};

export type ModelChoiceWords = typeof english;

export const modelChoice = (): ModelChoiceWords => localised("modelChoice", english);
