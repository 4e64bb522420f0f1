import { localised } from "../language.svelte";

const english = {
  /** Translates a problem of the server. In English the server's own sentence is used. */
  told: (_code: string, message: string) => message,
};

export type ProblemWords = typeof english;

export const problems = (): ProblemWords => localised("problems", english);
