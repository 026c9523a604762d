/** Texts as few bytes. */
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

/** Characters up to which the best packing takes few milliseconds. */
const SHORT = 8_192;

export const packed = (text: string): Buffer =>
  brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: text.length <= SHORT ? constants.BROTLI_MAX_QUALITY : 5,
    },
  });

export const unpacked = (bytes: Uint8Array): string => brotliDecompressSync(bytes).toString();
