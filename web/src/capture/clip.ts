// What clips are recorded as, how long they may be, and what captured files are called. Pure.

/** In order: what every player knows; what costs little to encode; what the browser likes. */
const CLIP_TYPES = ["video/mp4;codecs=avc1.42E01E,mp4a.40.2", "video/webm;codecs=vp8,opus", "video/webm", "video/mp4"];
/** Bits a second: 720p without visible blocks. */
export const CLIP_BITS = 2_500_000;
/** Seconds. */
const LONGEST_CLIP = 180;
const LONGEST_SOUND = 600;
/** Bytes a second of 16-bit sound at 16 kHz. */
const SOUND_BYTES = 32_000;

/** Null where the browser records no clips. */
export function clipType(canRecord: (type: string) => boolean): string | null {
  return CLIP_TYPES.find(canRecord) ?? null;
}

/** Seconds a clip may have, given the largest file in bytes. An encoder may exceed its rate, so a tenth is kept free. */
export function longestClip(mostBytes: number): number {
  return secondsWithin(mostBytes, CLIP_BITS / 8, LONGEST_CLIP);
}

export function longestSound(mostBytes: number): number {
  return secondsWithin(mostBytes, SOUND_BYTES, LONGEST_SOUND);
}

function secondsWithin(bytes: number, rate: number, most: number): number {
  return Math.max(1, Math.min(most, Math.floor((0.9 * bytes) / rate)));
}

const ENDINGS: Readonly<Record<string, string>> = { "image/jpeg": "jpg", "image/png": "png", "video/mp4": "mp4", "video/webm": "webm", "audio/wav": "wav" };

/** "Photo.jpg", or "Photo 2.jpg" where that is taken. */
export function captureName(word: string, type: string, taken: readonly string[]): string {
  const ending = ENDINGS[type] ?? "bin";
  for (let number = 1; ; number++) {
    const name = `${word}${number > 1 ? ` ${number}` : ""}.${ending}`;
    if (!taken.includes(name)) return name;
  }
}

/** "0:07", "12:30". */
export function clockTime(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
