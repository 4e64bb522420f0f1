// Converts between 16-bit samples of the wire and float samples of the browser. Pure.

/** Sample rates in Hz, from microphones and to loudspeakers, on all of the server's sockets. */
export const INPUT_RATE = 16_000;
export const OUTPUT_RATE = 24_000;

export function toInt16(floats: Float32Array): Int16Array<ArrayBuffer> {
  const integers = new Int16Array(floats.length);
  for (let at = 0; at < floats.length; at++) integers[at] = Math.max(-32768, Math.min(32767, Math.round(floats[at]! * 32768)));
  return integers;
}

export function toFloat32(integers: Int16Array): Float32Array<ArrayBuffer> {
  const floats = new Float32Array(integers.length);
  for (let at = 0; at < integers.length; at++) floats[at] = integers[at]! / 32768;
  return floats;
}

/** Root mean square, 0 to 1. */
export function loudness(floats: Float32Array): number {
  let sum = 0;
  for (const value of floats) sum += value * value;
  return floats.length === 0 ? 0 : Math.sqrt(sum / floats.length);
}

/** Reassembles 16-bit samples from chunks of bytes that may end in the middle of one. */
export class SampleAligner {
  #odd: number | null = null;

  push(bytes: Uint8Array): Int16Array<ArrayBuffer> {
    const carried = this.#odd === null ? 0 : 1;
    const count = Math.floor((bytes.length + carried) / 2);
    const pcm = new Uint8Array(2 * count);
    if (carried && count > 0) pcm[0] = this.#odd!;
    pcm.set(bytes.subarray(0, Math.max(0, 2 * count - carried)), count > 0 ? carried : 0);
    const rest = bytes.length + carried - 2 * count;
    this.#odd = rest === 0 ? null : bytes.length > 0 ? bytes[bytes.length - 1]! : this.#odd;
    const view = new DataView(pcm.buffer);
    return Int16Array.from({ length: count }, (_, at) => view.getInt16(2 * at, true));
  }
}
