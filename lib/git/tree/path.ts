import { isUtf8 } from 'node:buffer';
import { isDotGit } from '../dotgit.ts';

/**
 * The bytes of a path or of a name in a tree, one character per byte (Latin-1). Git's names are bytes and
 * sort as bytes; strings of this kind compare the same way with `<`, and equal bytes are equal strings.
 */
export type RawPath = string & { readonly __brand: 'RawPath' };

export const ROOT = '' as RawPath;

/** Why {@link readPath} refuses a path. */
export type PathProblem =
  | 'empty'
  /** a `.` or `..` component */
  | 'traversal'
  /** starts with a slash, or with a drive and a slash: `C:/x` */
  | 'absolute'
  /** `a//b`, or a slash at the end */
  | 'empty-component'
  /** `.git`, in any form that some file system treats as such */
  | 'git-directory'
  /** NUL, another control character, or text that is not Unicode */
  | 'character'
  /** over 4,096 bytes, or a component over 255 */
  | 'too-long';

const MAX_PATH_BYTES = 4096;
const MAX_NAME_BYTES = 255;
/** What stands for a byte is this and the byte: U+10FE80 to U+10FEFF, which are for private use. */
const ESCAPE = 0x10fe00;
const ESCAPED = /[\u{10fe80}-\u{10feff}]/u;
/** The same in UTF-8, one character per byte. */
const RAW_ESCAPED = /\u00f4\u008f[\u00ba\u00bb]/;

/**
 * Decodes a path to text, which is valid in JSON and in a URL whatever the path is. For each byte that is not UTF-8 a
 * character stands, U+10FE80 to U+10FEFF, so that {@link encodePath} returns the same bytes; a path that has such
 * characters itself is told by their bytes.
 */
export function decodePath(raw: RawPath): string {
  if (!/[\u0080-\u00ff]/.test(raw)) return raw;
  const bytes = Buffer.from(raw, 'latin1');
  if (isUtf8(bytes) && !RAW_ESCAPED.test(raw)) return bytes.toString('utf8');
  let text = '';
  for (let i = 0; i < bytes.length; ) {
    const length = sequenceLength(bytes, i);
    text += length === 0 ? String.fromCodePoint(ESCAPE + bytes[i]!) : bytes.toString('utf8', i, i + length);
    i += Math.max(1, length);
  }
  return text;
}

/** The bytes of a path given as text. @returns undefined for text that is not Unicode */
export function encodePath(text: string): RawPath | undefined {
  if (!/[^\u0000-\u007f]/.test(text)) return text as RawPath;
  if (!text.isWellFormed()) return undefined;
  if (!ESCAPED.test(text)) return Buffer.from(text).toString('latin1') as RawPath;
  let raw = '';
  for (const character of text)
    raw += ESCAPED.test(character)
      ? String.fromCharCode(character.codePointAt(0)! - ESCAPE)
      : Buffer.from(character).toString('latin1');
  return raw as RawPath;
}

/**
 * Parses a path to look up: removes `/` at either end; '' is the root.
 * @returns undefined when no tree can hold such a path.
 */
export function lookupPath(text: string): RawPath | undefined {
  const raw = encodePath(text)?.replace(/^\/+|\/+$/g, '');
  if (raw === undefined || raw.includes('\0') || raw.length > MAX_PATH_BYTES) return undefined;
  return raw as RawPath;
}

/**
 * Parses a path to write to. Refuses what `git fsck`, or a checkout on any system, refuses: see {@link PathProblem}.
 * A backslash is an ordinary byte, as in git, but the parts between backslashes must be valid components too, because
 * they are separators on Windows.
 */
export function readPath(text: string): { readonly path: RawPath } | { readonly problem: PathProblem } {
  if (text === '') return { problem: 'empty' };
  const path = encodePath(text);
  if (path === undefined || /[\u0000-\u001f\u007f]/.test(path)) return { problem: 'character' };
  if (path.length > MAX_PATH_BYTES) return { problem: 'too-long' };
  if (/^([a-z]:)?[/\\]/i.test(path)) return { problem: 'absolute' };
  for (const name of text.split('/')) {
    if (name === '') return { problem: 'empty-component' };
    if (encodePath(name)!.length > MAX_NAME_BYTES) return { problem: 'too-long' };
    if (name.split('\\').some((part) => part === '.' || part === '..')) return { problem: 'traversal' };
    if (isDotGit(Buffer.from(encodePath(name)!, 'latin1'))) return { problem: 'git-directory' };
  }
  return { path };
}

/** Length of the well-formed UTF-8 sequence at `at`, 0 when there is none, or when it is a character that stands for a byte. */
function sequenceLength(bytes: Buffer, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length++) {
    const some = bytes.subarray(at, at + length);
    if (isUtf8(some)) return ESCAPED.test(some.toString('utf8')) ? 0 : length;
  }
  return 0;
}
