// Text without case and diacritics, for matching what was typed. Pure.

export function foldText(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase();
}
