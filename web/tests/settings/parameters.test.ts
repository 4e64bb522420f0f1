import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { formatValue, type Kind, type Parameter, type ParameterName, PARAMETERS, parseValue, STOP_WORDS } from "../../src/settings/parameters";

function called(name: ParameterName): Parameter {
  return PARAMETERS.find((parameter) => parameter.name === name)!;
}

const typed = (name: ParameterName, text: string, language: "en" | "de" = "en") => parseValue(called(name), text, language);

describe("the parameters", () => {
  it("are the server's, with its ranges", () => {
    const body = readFileSync(new URL("../../../src/duologue/wire/validation.py", import.meta.url), "utf8");
    const fields = /class SamplingFields[\s\S]*?def sampling/.exec(body)![0];
    const names = [...fields.matchAll(/^ {4}(\w+): (?!.*unkept\().*None/gm)].map(([, name]) => name).filter((name) => name !== "stop");
    expect(new Set(PARAMETERS.map(({ name }) => name))).toEqual(new Set([...names, "max_tokens"]));
    for (const parameter of PARAMETERS) {
      if (parameter.kind !== "number" && parameter.kind !== "whole") continue;
      if (parameter.name === "max_tokens" || parameter.name === "seed") continue;
      const field = new RegExp(`^ {4}${parameter.name}: [\\s\\S]*?ge=(-?[\\d_.]+),\\s*le=([\\d_.]+)`, "m").exec(fields)!;
      const [least, most] = [field[1], field[2]].map((text) => Number(text!.replaceAll("_", "")));
      expect([parameter.name, parameter.least, parameter.most]).toEqual([parameter.name, least, most]);
    }
  });

  it("are all shown, each once", () => {
    expect(new Set(PARAMETERS.map(({ name }) => name)).size).toBe(PARAMETERS.length);
  });
});

describe("a typed number", () => {
  it.each([
    ["0.7", 0.7],
    [" 1 ", 1],
    [".5", 0.5],
    ["1e-2", 0.01],
    ["2.", 2],
  ])("%s is taken", (text, value) => {
    expect(typed("temperature", text)).toEqual({ value });
  });

  it("is nothing where nothing is typed", () => {
    expect(typed("temperature", "  ")).toEqual({ value: null });
  });

  it.each(["warm", "1,5", "1 000", "NaN", "Infinity", "--1", "0x10"])("%s is rejected in English", (text) => {
    expect(typed("temperature", text)).toEqual({ fault: { kind: "number" } });
  });

  it("may have a comma in German, and a point from elsewhere", () => {
    expect(typed("temperature", "0,7", "de")).toEqual({ value: 0.7 });
    expect(typed("temperature", "0.7", "de")).toEqual({ value: 0.7 });
    expect(typed("top_k", "1.000", "de")).toEqual({ fault: { kind: "whole" } });
  });

  it("is within its range", () => {
    expect(typed("top_p", "1.01")).toEqual({ fault: { kind: "range", least: 0, most: 1 } });
    expect(typed("top_k", "-2")).toEqual({ fault: { kind: "range", least: -1, most: 1_000_000 } });
    expect(typed("top_k", "-1")).toEqual({ value: -1 });
    expect(typed("seed", "99999999999999999999")).toMatchObject({ fault: { kind: "range" } });
  });

  it("is whole where it has to be", () => {
    expect(typed("top_k", "1.5")).toEqual({ fault: { kind: "whole" } });
    expect(typed("top_k", "many")).toEqual({ fault: { kind: "number" } });
  });

  it("may be one of a few", () => {
    expect(typed("mirostat", "2")).toEqual({ value: 2 });
    expect(typed("mirostat", "3")).toEqual({ fault: { kind: "range", least: 0, most: 2 } });
  });
});

describe("lines", () => {
  it("are texts with their spaces, and \\n is a line break", () => {
    expect(parseValue(STOP_WORDS, "User: \n\n\\n\\n\nC:\\\\temp", "en")).toEqual({ value: ["User: ", "\n\n", "C:\\temp"] });
    expect(parseValue(STOP_WORDS, "\n\n", "en")).toEqual({ value: null });
  });

  it("are not too many", () => {
    expect(parseValue(STOP_WORDS, "x\n".repeat(17), "en")).toEqual({ fault: { kind: "many", most: 16 } });
  });

  it("that are names are known ones, however they are parted and spelled", () => {
    expect(typed("samplers", "top-k, Temp\nmin_p")).toEqual({ value: ["top_k", "temperature", "min_p"] });
    expect(typed("samplers", "top_k luck")).toMatchObject({ fault: { kind: "unknown", name: "luck" } });
  });
});

describe("biases", () => {
  it("are a token and a number", () => {
    expect(typed("logit_bias", "42: -1.5\n no: 3\na:b:0")).toEqual({ value: { "42": -1.5, " no": 3, "a:b": 0 } });
    expect(typed("logit_bias", "")).toEqual({ value: null });
  });

  it.each(["42", ": 3", "42: much"])("%s is rejected", (text) => {
    expect(typed("logit_bias", text)).toEqual({ fault: { kind: "bias" } });
  });
});

describe("what is written into a field", () => {
  const values: readonly [Kind, unknown][] = [
    [called("temperature"), 0.05],
    [called("seed"), 123456789012],
    [called("min_p"), 0.000001],
    [called("ignore_eos"), true],
    [called("samplers"), ["top_k", "temperature"]],
    [STOP_WORDS, ["\n\n", "a\\nb", " x "]],
    [called("logit_bias"), { "5": -100, "a\nb": 1.5 }],
  ];

  it.each(values)("%o is read back as %o", (kind, value) => {
    for (const language of ["en", "de"] as const) expect(parseValue(kind, formatValue(kind, value, language), language)).toEqual({ value });
  });

  it("is empty for nothing", () => {
    expect(formatValue(called("temperature"), undefined, "en")).toBe("");
  });
});
