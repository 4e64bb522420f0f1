import { expect, it } from "vitest";

import { framesOf, type VideoSegment } from "../../../src/voice/video_stream/segment";

const SEGMENT: VideoSegment = { at: 960, first: 7, rate: 25, codec: "avc1.64001E", sizes: [2, 1], data: btoa("abc") };

it("a segment is cut into its frames, each with its sample and its moment", () => {
  const [first, second] = framesOf(SEGMENT);
  expect([first!.key, first!.sample, first!.clock, [...first!.data]]).toEqual([true, 960, 7, [97, 98]]);
  expect([second!.key, second!.sample, second!.clock, [...second!.data]]).toEqual([false, 1920, 8, [99]]);
});

it("a segment that is empty or contradicts itself has none", () => {
  expect(framesOf({ ...SEGMENT, codec: null, sizes: [], data: "" })).toEqual([]);
  expect(framesOf({ ...SEGMENT, sizes: [2, 2] })).toEqual([]);
  expect(framesOf({ ...SEGMENT, data: "not base64!" })).toEqual([]);
});
