// Formats sizes in bytes with decimal units, as disks use: "15 bytes", "312 kB", "4.2 MB". Pure.
import { currentLanguage } from "../../language/language.svelte";

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

/** `smallest` is the smallest unit to use. */
export function byteSize(bytes: number, smallest: (typeof UNITS)[number] = "byte"): string {
  const magnitude = Math.floor(Math.log10(Math.max(bytes, 1)) / 3);
  const step = Math.min(UNITS.length - 1, Math.max(UNITS.indexOf(smallest), magnitude));
  const value = bytes / 1000 ** step;
  const digits = value < 10 && step > 0 ? 1 : 0;
  return new Intl.NumberFormat(currentLanguage(), { style: "unit", unit: UNITS[step]!, unitDisplay: step === 0 ? "long" : "short", maximumFractionDigits: digits }).format(value);
}

/** For models and downloads: at least megabytes. */
export function modelSize(bytes: number): string {
  return byteSize(bytes, "megabyte");
}
