// The animated shape of a call: its motion in each state and its outline at a moment. Pure.

/** A state of the call, or "calling" and "over" around it. */
export type Mood = "calling" | "listening" | "hearing" | "thinking" | "speaking" | "paused" | "waiting" | "over";

export interface Motion {
  /** Radius relative to the available space. */
  readonly size: number;
  /** Amplitude of the waves on its edge. */
  readonly swell: number;
  /** Speed of the waves. */
  readonly pace: number;
  /** Response to loudness. */
  readonly echo: number;
  /** Opacity, 0 to 1. */
  readonly strength: number;
}

const MOTIONS: Readonly<Record<Mood, Motion>> = {
  calling: { size: 0.44, swell: 0.02, pace: 0.9, echo: 0, strength: 0.55 },
  listening: { size: 0.54, swell: 0.02, pace: 0.5, echo: 0.25, strength: 0.75 },
  hearing: { size: 0.55, swell: 0.035, pace: 1, echo: 0.9, strength: 0.9 },
  thinking: { size: 0.48, swell: 0.09, pace: 1.7, echo: 0, strength: 0.85 },
  speaking: { size: 0.58, swell: 0.035, pace: 1.1, echo: 1, strength: 1 },
  paused: { size: 0.49, swell: 0.01, pace: 0.2, echo: 0, strength: 0.45 },
  waiting: { size: 0.4, swell: 0.01, pace: 0.3, echo: 0, strength: 0.4 },
  over: { size: 0.3, swell: 0, pace: 0, echo: 0, strength: 0.2 },
};

export function motionOf(mood: Mood): Motion {
  return MOTIONS[mood];
}

/** Interpolates between two motions; `share` 0 is the first. */
export function blend(one: Motion, other: Motion, share: number): Motion {
  const mixed = (name: keyof Motion) => one[name] + (other[name] - one[name]) * share;
  return { size: mixed("size"), swell: mixed("swell"), pace: mixed("pace"), echo: mixed("echo"), strength: mixed("strength") };
}

/** Maps amplitude to perceived loudness, which is logarithmic: 0 is silence, 1 the maximum. */
export function perceivedLoudness(level: number): number {
  return level <= 0.001 ? 0 : Math.min(1, 1 + Math.log10(Math.min(1, level)) / 3);
}

/** The edge's distance from the centre at an angle, relative to the available space; `layer` 0 is the innermost. */
export function edgeAt(angle: number, phase: number, { size, swell, echo }: Motion, loud: number, layer: number): number {
  const wave = Math.sin(2 * angle + phase + layer) + 0.6 * Math.sin(3 * angle - 1.3 * phase + 2 * layer) + 0.2 * Math.sin(5 * angle + 0.7 * phase);
  const answer = echo * loud * (0.12 + 0.09 * layer);
  return Math.min(1, size * (1 + 0.11 * layer + swell * (1 + loud * echo) * wave) + answer * size);
}
