// Addresses that somebody else names: a tool server, a form. Pure.

/** An address that a page may be sent to; what a server names may be anything. */
export function webAddress(address: string): string | null {
  return /^https?:\/\//i.test(address) && URL.canParse(address) ? address : null;
}
