import { describe, expect, it } from "vitest";

import { fieldsOf, valueOf } from "../../../src/ui/tools/form_schema";

const schema = {
  type: "object",
  required: ["name", "size", "sure"],
  properties: {
    name: { type: "string", title: "Name", description: "As on the card", default: "Ada" },
    size: { type: "string", enum: ["s", "m"], enumNames: ["Small", "Middle"] },
    kind: { type: "string", oneOf: [{ const: "a", title: "Apple" }] },
    count: { type: "integer", default: 2 },
    sure: { type: "boolean", default: true },
    mail: { type: "string", format: "email" },
  },
};

const field = (name: string) => fieldsOf(schema).find((one) => one.name === name)!;

describe("a form that a server asks for", () => {
  it("has a field for each property, of its kind", () => {
    expect(fieldsOf(schema).map(({ name, kind, required }) => `${name} ${kind}${required ? "!" : ""}`)).toEqual([
      "name text!",
      "size choice!",
      "kind choice",
      "count number",
      "sure boolean",
      "mail text",
    ]);
    expect(field("name")).toMatchObject({ title: "Name", description: "As on the card", initial: "Ada" });
    expect(field("size").choices).toEqual([{ value: "s", title: "Small" }, { value: "m", title: "Middle" }]);
    expect(field("kind").choices).toEqual([{ value: "a", title: "Apple" }]);
    expect(field("mail").format).toBe("email");
  });

  it("returns values of the schema's types", () => {
    expect(valueOf(field("count"), "3")).toBe(3);
    expect(valueOf(field("count"), "")).toBeUndefined();
    expect(valueOf(field("sure"), false)).toBe(false);
    expect(valueOf(field("name"), "Bob")).toBe("Bob");
  });

  it("is empty for an invalid schema", () => {
    expect(fieldsOf({})).toEqual([]);
  });
});
