// Form fields from the flat JSON schemas that MCP allows for elicitation. Pure.

export type FieldValue = string | boolean;

export interface Field {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly kind: "text" | "number" | "boolean" | "choice";
  /** Type of the input element. */
  readonly format: "text" | "email" | "url" | "date" | "datetime-local";
  readonly whole: boolean;
  readonly required: boolean;
  readonly choices: readonly { readonly value: string; readonly title: string }[];
  readonly initial: FieldValue;
}

const FORMATS = { email: "email", uri: "url", date: "date", "date-time": "datetime-local" } as const;

function asText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function choicesOf(property: Record<string, unknown>): Field["choices"] {
  if (Array.isArray(property["oneOf"])) {
    return (property["oneOf"] as Record<string, unknown>[]).map((one) => ({ value: asText(one["const"]), title: asText(one["title"]) || asText(one["const"]) }));
  }
  if (!Array.isArray(property["enum"])) return [];
  const names = Array.isArray(property["enumNames"]) ? property["enumNames"] : [];
  return property["enum"].map((value, index) => ({ value: asText(value), title: asText(names[index]) || asText(value) }));
}

export function fieldsOf(schema: Readonly<Record<string, unknown>>): Field[] {
  const properties = (schema["properties"] ?? {}) as Record<string, Record<string, unknown>>;
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  return Object.entries(properties).map(([name, property]) => {
    const choices = choicesOf(property);
    const type = property["type"];
    const kind = choices.length > 0 ? "choice" : type === "boolean" ? "boolean" : type === "number" || type === "integer" ? "number" : "text";
    return {
      name,
      title: asText(property["title"]) || name,
      description: asText(property["description"]),
      kind,
      format: FORMATS[property["format"] as keyof typeof FORMATS] ?? "text",
      whole: type === "integer",
      required: required.has(name) && kind !== "boolean",
      choices,
      initial: kind === "boolean" ? property["default"] === true : asText(property["default"]),
    };
  });
}

/** The value of a field in its schema's type; undefined if empty. */
export function valueOf(field: Field, input: FieldValue): unknown {
  if (field.kind === "boolean") return input === true;
  if (input === "" || typeof input === "boolean") return undefined;
  if (field.kind === "number") return Number(input);
  // The input has no time zone, but the server expects one.
  if (field.format === "datetime-local") return new Date(input).toISOString();
  return input;
}
