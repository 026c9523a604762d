const LF = 0x0a;
const CR = 0x0d;

/** `always` for files marked as text, `auto` where the content decides. */
export type LineEnds = 'always' | 'auto';

/**
 * Converts line ends to CRLF as git does for `eol=crlf` (gitattributes, "text" and "eol"): adds a carriage return
 * before each line feed without one. With `auto`, does not change content with a carriage return, or that looks binary.
 */
export function withCrlf(data: Uint8Array, ends: LineEnds): Uint8Array {
  let bare = 0;
  for (let i = 0; i < data.length; i++) if (data[i] === LF && data[i - 1] !== CR) bare++;
  if (bare === 0 || (ends === 'auto' && (data.includes(CR) || looksBinary(data)))) return data;
  const converted = new Uint8Array(data.length + bare);
  let at = 0;
  for (let i = 0; i < data.length; i++) {
    if (data[i] === LF && data[i - 1] !== CR) converted[at++] = CR;
    converted[at++] = data[i]!;
  }
  return converted;
}

/** Control characters that text may contain: backspace, tab, form feed, escape; Ctrl-Z at the end. */
const IN_TEXT = new Set([0x08, 0x09, LF, 0x0c, 0x1b]);
const END_OF_FILE = 0x1a;

/** A NUL, or more than one control character in 128. */
function looksBinary(data: Uint8Array): boolean {
  let odd = 0;
  let plain = 0;
  for (const [i, byte] of data.entries()) {
    if (byte === 0) return true;
    const control = byte < 0x20 ? !IN_TEXT.has(byte) : byte === 0x7f;
    if (control && !(byte === END_OF_FILE && i === data.length - 1)) odd++;
    else if (byte !== LF) plain++;
  }
  return plain >> 7 < odd;
}
