import { localised } from "../language.svelte";

const english = {
  /** What the server says of a problem, in the page's language. It says it in English. */
  told: (_code: string, message: string) => message,
};

export type ProblemWords = typeof english;

export const problems = (): ProblemWords => localised("problems", english);
