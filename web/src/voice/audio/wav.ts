// Encodes samples as a WAV file. Pure.

export function wavOf(pieces: readonly Int16Array[], rate: number): Uint8Array<ArrayBuffer> {
  const count = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const file = new Uint8Array(44 + 2 * count);
  const view = new DataView(file.buffer);
  const name = (at: number, letters: string) => [...letters].forEach((letter, index) => view.setUint8(at + index, letter.charCodeAt(0)));
  name(0, "RIFF");
  view.setUint32(4, 36 + 2 * count, true);
  name(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  name(36, "data");
  view.setUint32(40, 2 * count, true);
  let at = 44;
  for (const piece of pieces) for (const value of piece) view.setInt16((at += 2) - 2, value, true);
  return file;
}
