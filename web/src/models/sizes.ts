// Formats a size in bytes: "4.2 GB", "312 MB". Decimal units, as disks use. Pure.
import { currentTongue } from "../language/language.svelte";
import { models as words } from "../language/en/models";

export function bytes(size: number): string {
  const write = (value: number) => value.toLocaleString(currentTongue(), { maximumFractionDigits: value < 10 ? 1 : 0 });
  return size >= 1e9 ? words().gigabytes(write(size / 1e9)) : words().megabytes(write(size / 1e6));
}
