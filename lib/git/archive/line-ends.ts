const LF = 0x0a;
const CR = 0x0d;

/** `always` for what is said to be text, `auto` where the content decides. */
export type LineEnds = 'always' | 'auto';

/**
 * Line ends as `eol=crlf` wants them in a working tree (gitattributes, "text" and "eol"): a line feed that follows no
 * carriage return gets one. With `auto`, what has a carriage return already, or looks binary, stays as it is.
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

/** Control characters that text may hold: backspace, tab, form feed, escape; a last one may be Ctrl-Z. */
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
