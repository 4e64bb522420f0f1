import type { UpstreamProblem } from "../../../wire/models/upstreams";
import type { ProblemValues } from "../../../wire/transport/http";
import { localised } from "../../language.svelte";

const english = {
  /** Translates a problem of the server; `values` are the numbers and names in its sentence. In English the server's own
   * sentence is used. */
  told: (_code: string, message: string, _values?: ProblemValues) => message,
  /** The same for what is wrong with a connected model server. */
  ofUpstream: ({ message }: UpstreamProblem) => message,
};

export type ProblemWords = typeof english;

export const problems = (): ProblemWords => localised("problems", english);
