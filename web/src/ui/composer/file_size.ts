// Bytes as a person reads them: "312 kB", "4.2 MB". Pure.
import { currentTongue } from "../../language/language.svelte";

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

export function fileSize(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)));
  const value = bytes / 1000 ** step;
  return new Intl.NumberFormat(currentTongue(), { style: "unit", unit: UNITS[step]!, unitDisplay: "short", maximumFractionDigits: value < 10 && step > 0 ? 1 : 0 }).format(value);
}
