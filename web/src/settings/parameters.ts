// How the next token is chosen: every parameter there is, in which group it stands, what it may be, and how it is
// written and read in a field. The ranges are the server's (`SamplingFields`). Pure: words are the catalogue's.
import type { Tongue } from "../language/language.svelte";

export const GROUPS = ["basics", "repetition", "dry", "xtc", "dynamic", "mirostat", "advanced"] as const;

export type Group = (typeof GROUPS)[number];

export type Value = number | boolean | readonly string[] | Readonly<Record<string, number>>;

interface Numeric {
  readonly kind: "number" | "whole";
  readonly least: number;
  readonly most: number;
}

/** `lines` is one text a line, `biases` a token and its bias a line, `choice` one of a few numbers. */
export type Kind = Numeric | { readonly kind: "switch" } | { readonly kind: "choice"; readonly choices: readonly number[] } | { readonly kind: "lines"; readonly most: number; readonly known?: readonly string[] } | { readonly kind: "biases" };

export type Parameter = Kind & { readonly name: ParameterName; readonly group: Group };

const number = (least: number, most: number): Numeric => ({ kind: "number", least, most });
const whole = (least: number, most: number): Numeric => ({ kind: "whole", least, most });

const MILLION = 1_000_000;
/** The server takes 64 bits; a number of the page is exact up to here. */
const LARGEST = Number.MAX_SAFE_INTEGER;

/** The steps of choosing a token, by the names they have in llama.cpp. */
export const SAMPLERS = ["penalties", "dry", "top_n_sigma", "top_k", "typ_p", "top_p", "min_p", "xtc", "temperature", "infill", "adaptive_p"] as const;
const SPELLINGS: Readonly<Record<string, string>> = { typical_p: "typ_p", typical: "typ_p", temp: "temperature", nucleus: "top_p" };

const KINDS = {
  temperature: ["basics", number(0, 100)],
  top_p: ["basics", number(0, 1)],
  top_k: ["basics", whole(-1, MILLION)],
  min_p: ["basics", number(0, 1)],
  max_tokens: ["basics", whole(1, MILLION)],
  repetition_penalty: ["repetition", number(0, 100)],
  repetition_window: ["repetition", whole(-1, MILLION)],
  presence_penalty: ["repetition", number(-100, 100)],
  frequency_penalty: ["repetition", number(-100, 100)],
  length_penalty: ["repetition", number(-100, 100)],
  dry_multiplier: ["dry", number(0, 100)],
  dry_base: ["dry", number(0, 100)],
  dry_allowed_length: ["dry", whole(0, MILLION)],
  dry_penalty_last_n: ["dry", whole(-1, MILLION)],
  dry_sequence_breakers: ["dry", { kind: "lines", most: 64 }],
  xtc_probability: ["xtc", number(0, 1)],
  xtc_threshold: ["xtc", number(0, 1)],
  dynamic_temperature_range: ["dynamic", number(0, 100)],
  dynamic_temperature_exponent: ["dynamic", number(0, 100)],
  mirostat: ["mirostat", { kind: "choice", choices: [0, 1, 2] }],
  mirostat_tau: ["mirostat", number(0, 100)],
  mirostat_eta: ["mirostat", number(0, 1)],
  seed: ["advanced", whole(-1, LARGEST)],
  typical_p: ["advanced", number(0, 1)],
  top_n_sigma: ["advanced", number(-1, 100)],
  samplers: ["advanced", { kind: "lines", most: 32, known: SAMPLERS }],
  min_keep: ["advanced", whole(0, MILLION)],
  ignore_eos: ["advanced", { kind: "switch" }],
  logit_bias: ["advanced", { kind: "biases" }],
} as const satisfies Readonly<Record<string, readonly [Group, Kind]>>;

export type ParameterName = keyof typeof KINDS;

/** All of them, in the order they are shown. `logprobs` is not among them: it is for programs that read the figures. */
export const PARAMETERS: readonly Parameter[] = Object.entries(KINDS).map(([name, [group, kind]]) => ({ ...(kind as Kind), name: name as ParameterName, group }));

/** Texts that end a reply. Kept beside the sampling, and every model applies them. */
export const STOP_WORDS: Kind = { kind: "lines", most: 16 };

/** What is wrong with what was typed; the sentence is the catalogue's. */
export type Fault =
  | { readonly kind: "number" | "whole" | "bias" }
  | { readonly kind: "range"; readonly least: number; readonly most: number }
  | { readonly kind: "many"; readonly most: number }
  | { readonly kind: "unknown"; readonly name: string; readonly known: readonly string[] };

/** Null as a value: nothing was typed, so nothing is asked for. */
export type Reading = { readonly value: Value | null } | { readonly fault: Fault };

const NUMBER = /^[-+]?(\d+([.,]\d*)?|[.,]\d+)(e[-+]?\d+)?$/i;
const WHOLE = /^[-+]?\d+$/;

/** A number as people type it in a language: German takes a comma, and a point that was copied from elsewhere. */
function numberOf(text: string, tongue: Tongue): number | null {
  if (!NUMBER.test(text) || (tongue === "en" && text.includes(","))) return null;
  return Number(text.replace(",", "."));
}

function readNumber(text: string, { kind, least, most }: Numeric, tongue: Tongue): Reading {
  if (kind === "whole" && !WHOLE.test(text)) return { fault: { kind: numberOf(text, tongue) === null ? "number" : "whole" } };
  const value = numberOf(text, tongue);
  if (value === null) return { fault: { kind: "number" } };
  return value < least || value > most ? { fault: { kind: "range", least, most } } : { value };
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\\": "\\" };

/** "\n" in a line stands for a line break. */
function unescaped(line: string): string {
  return line.replace(/\\([ntr\\])/g, (_, letter: string) => ESCAPES[letter] ?? letter);
}

function escaped(text: string): string {
  return text.replace(/[\\\n\t\r]/g, (letter) => `\\${{ "\n": "n", "\t": "t", "\r": "r" }[letter] ?? letter}`);
}

function readLines(text: string, most: number, known: readonly string[] | undefined): Reading {
  // Spaces are part of a text that ends a reply, but not of a name.
  const lines = known ? text.split(/[\s,;]+/) : text.split(/\r?\n/).map(unescaped);
  const values = lines.filter((line) => line !== "");
  if (values.length === 0) return { value: null };
  if (values.length > most) return { fault: { kind: "many", most } };
  if (!known) return { value: values };
  const names = values.map((value) => value.toLowerCase().replaceAll("-", "_")).map((value) => SPELLINGS[value] ?? value);
  const at = names.findIndex((name) => !known.includes(name));
  return at < 0 ? { value: names } : { fault: { kind: "unknown", name: values[at] ?? "", known } };
}

function readBiases(text: string, tongue: Tongue): Reading {
  const biases: Record<string, number> = {};
  for (const line of text.split(/\r?\n/).filter((line) => line.trim() !== "")) {
    // The last colon: a token may hold one.
    const at = line.lastIndexOf(":");
    const bias = numberOf(line.slice(at + 1).trim(), tongue);
    if (at < 1 || bias === null) return { fault: { kind: "bias" } };
    biases[unescaped(line.slice(0, at))] = bias;
  }
  return { value: Object.keys(biases).length === 0 ? null : biases };
}

/** What was typed into a field, as a value or what is wrong with it. */
export function readValue(kind: Kind, text: string, tongue: Tongue): Reading {
  const typed = text.trim();
  if (typed === "" && kind.kind !== "lines") return { value: null };
  switch (kind.kind) {
    case "number":
    case "whole":
      return readNumber(typed, kind, tongue);
    case "choice": {
      const value = Number(typed);
      const least = Math.min(...kind.choices);
      return kind.choices.includes(value) ? { value } : { fault: { kind: "range", least, most: Math.max(...kind.choices) } };
    }
    case "switch":
      return { value: typed === "true" };
    case "lines":
      return readLines(text, kind.most, kind.known);
    case "biases":
      return readBiases(text, tongue);
  }
}

/** A number for a field or a sentence, as the language writes it. */
export function numberText(value: number, tongue: Tongue, grouped = false): string {
  return new Intl.NumberFormat(tongue, { useGrouping: grouped, maximumFractionDigits: 12 }).format(value);
}

/** A value for its field: `readValue` gives it back. */
export function writtenValue(kind: Kind, value: unknown, tongue: Tongue): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return numberText(value, tongue);
  if (Array.isArray(value)) return kind.kind === "lines" && kind.known ? value.join(", ") : value.map((text) => escaped(String(text))).join("\n");
  if (typeof value === "object") {
    return Object.entries(value)
      .map(([token, bias]) => `${escaped(token)}: ${numberText(Number(bias), tongue)}`)
      .join("\n");
  }
  return String(value);
}
