/** The order of the table and of git: by UTF-8 bytes, where JavaScript compares UTF-16 units. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  // The two orders differ only where surrogates stand against the characters behind them.
  return BEYOND.test(a) || BEYOND.test(b) ? Buffer.compare(Buffer.from(a), Buffer.from(b)) : a < b ? -1 : 1;
}

const BEYOND = /[\ud800-\uffff]/;
