import { describe, expect, it } from "vitest";

import { captureName, clipType, clockTime, longestClip, longestSound } from "../../src/capture/clip";

describe("a clip", () => {
  it("is recorded as what every player knows, if the browser can", () => {
    expect(clipType(() => true)).toBe("video/mp4;codecs=avc1.42E01E,mp4a.40.2");
    expect(clipType((type) => type.startsWith("video/webm"))).toBe("video/webm;codecs=vp8,opus");
    expect(clipType((type) => type === "video/mp4")).toBe("video/mp4");
    expect(clipType(() => false)).toBeNull();
  });

  it("ends before it is too large for the server", () => {
    expect(longestClip(Infinity)).toBe(180);
    expect(longestClip(256 * 2 ** 20)).toBe(180);
    expect(longestClip(10 * 2 ** 20)).toBe(30);
    expect(longestClip(1)).toBe(1);
    expect(longestSound(Infinity)).toBe(600);
    expect(longestSound(2 ** 20)).toBe(29);
  });

  it("has a name that no other file of the message has", () => {
    expect(captureName("Photo", "image/jpeg", [])).toBe("Photo.jpg");
    expect(captureName("Photo", "image/jpeg", ["Photo.jpg", "Photo 2.jpg"])).toBe("Photo 3.jpg");
    expect(captureName("Video", "video/webm", ["Video.mp4"])).toBe("Video.webm");
  });

  it("tells its time as a clock does", () => {
    expect([0, 7.9, 60, 754, -1].map(clockTime)).toEqual(["0:00", "0:07", "1:00", "12:34", "0:00"]);
  });
});
