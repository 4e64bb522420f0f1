// The figures of the last minutes by model, as lines. Pure.
import type { ModelSample, Sample } from "../wire/server/admin";
import type { Point } from "./chart";

export interface ModelLines {
  readonly model: string;
  /** Replies that ended. */
  readonly requests: number;
  readonly firstToken: readonly Point[];
  readonly speed: readonly Point[];
  readonly queueWait: readonly Point[];
}

/** The models of which replies ended, the busiest first. */
export function modelLines(samples: readonly Sample[]): readonly ModelLines[] {
  const found = new Map<string, { at: number; sample: ModelSample }[]>();
  for (const { at, models = [] } of samples) {
    for (const sample of models) found.set(sample.model, [...(found.get(sample.model) ?? []), { at, sample }]);
  }
  return [...found]
    .map(([model, rows]) => {
      const points = (pick: (sample: ModelSample) => number | null | undefined) => rows.map(({ at, sample }) => ({ at, value: pick(sample) ?? null }));
      return {
        model,
        requests: rows.reduce((sum, { sample }) => sum + sample.requests, 0),
        firstToken: points((sample) => sample.first_token),
        speed: points((sample) => sample.reply_tokens_per_second),
        queueWait: points((sample) => sample.queue_wait),
      };
    })
    .sort((one, other) => other.requests - one.requests || one.model.localeCompare(other.model));
}
