// Checks addresses that come from outside: a tool server, a form. Pure.

/** The address when it is an absolute http(s) URL, else null: a server may name anything, `javascript:` included. */
export function webAddress(address: string): string | null {
  return /^https?:\/\//i.test(address) && URL.canParse(address) ? address : null;
}
