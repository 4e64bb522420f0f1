// All sampling parameters: group, allowed values, and conversion between text fields and values. The ranges are those
// of the server's `SamplingFields`, which a test compares. Pure.
import type { Language } from "../language/language.svelte";

export const GROUPS = ["basics", "repetition", "dry", "xtc", "dynamic", "mirostat", "advanced"] as const;

export type Group = (typeof GROUPS)[number];

export type Value = number | boolean | readonly string[] | Readonly<Record<string, number>>;

interface Numeric {
  readonly kind: "number" | "whole";
  readonly least: number;
  readonly most: number;
}

/** `lines`: one text per line; `biases`: "token: bias" per line; `choice`: one of a few numbers. */
export type Kind = Numeric | { readonly kind: "switch" } | { readonly kind: "choice"; readonly choices: readonly number[] } | { readonly kind: "lines"; readonly most: number; readonly known?: readonly string[] } | { readonly kind: "biases" };

export type Parameter = Kind & { readonly name: ParameterName; readonly group: Group };

const number = (least: number, most: number): Numeric => ({ kind: "number", least, most });
const whole = (least: number, most: number): Numeric => ({ kind: "whole", least, most });

const MILLION = 1_000_000;
/** The server accepts 64 bits; JavaScript numbers are exact up to here. */
const LARGEST = Number.MAX_SAFE_INTEGER;

/** Sampler steps by their llama.cpp names. */
export const SAMPLERS = ["penalties", "dry", "top_n_sigma", "top_k", "typ_p", "top_p", "min_p", "xtc", "temperature", "infill", "adaptive_p"] as const;
const SPELLINGS: Readonly<Record<string, string>> = { typical_p: "typ_p", typical: "typ_p", temp: "temperature", nucleus: "top_p" };

const KINDS = {
  temperature: ["basics", number(0, 100)],
  top_p: ["basics", number(0, 1)],
  top_k: ["basics", whole(-1, MILLION)],
  min_p: ["basics", number(0, 1)],
  max_tokens: ["basics", whole(1, MILLION)],
  repetition_penalty: ["repetition", number(0.01, 100)],
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

/** In display order. `logprobs` is left out: it is for programs that read the values. */
export const PARAMETERS: readonly Parameter[] = Object.entries(KINDS).map(([name, [group, kind]]) => ({ ...(kind as Kind), name: name as ParameterName, group }));

/** Stop strings. Stored beside the sampling; every model applies them. */
export const STOP_WORDS: Kind = { kind: "lines", most: 16 };

/** Why an input is invalid; the sentence is in the catalogue. */
export type InputFault =
  | { readonly kind: "number" | "whole" | "bias" }
  | { readonly kind: "range"; readonly least: number; readonly most: number }
  | { readonly kind: "many"; readonly most: number }
  | { readonly kind: "unknown"; readonly name: string; readonly known: readonly string[] };

/** A null value means that the field is empty and the parameter is not sent. */
export type ParseResult = { readonly value: Value | null } | { readonly fault: InputFault };

const NUMBER = /^[-+]?(\d+([.,]\d*)?|[.,]\d+)(e[-+]?\d+)?$/i;
const WHOLE = /^[-+]?\d+$/;

/** Parses a number as written in a language. Languages with a decimal comma also accept a copied point. */
function localNumber(text: string, language: Language): number | null {
  if (!NUMBER.test(text) || (language === "en" && text.includes(","))) return null;
  return Number(text.replace(",", "."));
}

function parseNumber(text: string, { kind, least, most }: Numeric, language: Language): ParseResult {
  if (kind === "whole" && !WHOLE.test(text)) return { fault: { kind: localNumber(text, language) === null ? "number" : "whole" } };
  const value = localNumber(text, language);
  if (value === null) return { fault: { kind: "number" } };
  return value < least || value > most ? { fault: { kind: "range", least, most } } : { value };
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\\": "\\" };

/** "\n" in a line stands for a line break. */
function unescapeText(line: string): string {
  return line.replace(/\\([ntr\\])/g, (_, letter: string) => ESCAPES[letter] ?? letter);
}

function escapeText(text: string): string {
  return text.replace(/[\\\n\t\r]/g, (letter) => `\\${{ "\n": "n", "\t": "t", "\r": "r" }[letter] ?? letter}`);
}

function parseLines(text: string, most: number, known: readonly string[] | undefined): ParseResult {
  // Spaces belong to a stop string, but not to a sampler name.
  const lines = known ? text.split(/[\s,;]+/) : text.split(/\r?\n/).map(unescapeText);
  const values = lines.filter((line) => line !== "");
  if (values.length === 0) return { value: null };
  if (values.length > most) return { fault: { kind: "many", most } };
  if (!known) return { value: values };
  const names = values.map((value) => value.toLowerCase().replaceAll("-", "_")).map((value) => SPELLINGS[value] ?? value);
  const at = names.findIndex((name) => !known.includes(name));
  return at < 0 ? { value: names } : { fault: { kind: "unknown", name: values[at] ?? "", known } };
}

function parseBiases(text: string, language: Language): ParseResult {
  const biases: Record<string, number> = {};
  for (const line of text.split(/\r?\n/).filter((line) => line.trim() !== "")) {
    // The last colon, since a token may contain one.
    const at = line.lastIndexOf(":");
    const bias = localNumber(line.slice(at + 1).trim(), language);
    if (at < 1 || bias === null) return { fault: { kind: "bias" } };
    biases[unescapeText(line.slice(0, at))] = bias;
  }
  return { value: Object.keys(biases).length === 0 ? null : biases };
}

/** Parses the text of a field. */
export function parseValue(kind: Kind, text: string, language: Language): ParseResult {
  const input = text.trim();
  if (input === "" && kind.kind !== "lines") return { value: null };
  switch (kind.kind) {
    case "number":
    case "whole":
      return parseNumber(input, kind, language);
    case "choice": {
      const value = Number(input);
      const least = Math.min(...kind.choices);
      return kind.choices.includes(value) ? { value } : { fault: { kind: "range", least, most: Math.max(...kind.choices) } };
    }
    case "switch":
      return { value: input === "true" };
    case "lines":
      return parseLines(text, kind.most, kind.known);
    case "biases":
      return parseBiases(text, language);
  }
}

/** Formats a number for a field or a sentence in a language. */
export function formatNumber(value: number, language: Language, grouped = false): string {
  return new Intl.NumberFormat(language, { useGrouping: grouped, maximumFractionDigits: 12 }).format(value);
}

/** Formats a value for its field; `parseValue` reads it back. */
export function formatValue(kind: Kind, value: unknown, language: Language): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return formatNumber(value, language);
  if (Array.isArray(value)) return kind.kind === "lines" && kind.known ? value.join(", ") : value.map((text) => escapeText(String(text))).join("\n");
  if (typeof value === "object") {
    return Object.entries(value)
      .map(([token, bias]) => `${escapeText(token)}: ${formatNumber(Number(bias), language)}`)
      .join("\n");
  }
  return String(value);
}
