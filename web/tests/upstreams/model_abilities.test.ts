import { describe, expect, it } from "vitest";

import { abilitiesOf, mediaOf } from "../../src/upstreams/model_abilities";
import type { UpstreamModel } from "../../src/wire/models/upstreams";

const model = (known: Partial<UpstreamModel>): UpstreamModel => ({ name: "a", context: null, tools: null, modalities: null, outputs: ["text"], ...known });

describe("what a model of a connected server can do", () => {
  it("is told in one order, whatever the order of the server", () => {
    expect(abilitiesOf(model({ modalities: ["video", "text", "audio", "image"], outputs: ["text", "audio"], tools: true }))).toEqual(["image", "audio", "video", "speaks", "tools"]);
  });

  it("is nothing where nobody says it, and text alone where that is said", () => {
    expect(abilitiesOf(model({}))).toEqual([]);
    expect(abilitiesOf(model({ modalities: ["text"], tools: false }))).toEqual(["textOnly", "noTools"]);
  });

  it("takes besides text what it is known to take", () => {
    expect(mediaOf(null)).toEqual([]);
    expect(mediaOf(["text", "audio", "smell"])).toEqual(["audio"]);
  });
});
