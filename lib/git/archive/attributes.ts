import { CorruptData, type SyncObjects } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { asBuffer, findName, readTreeBytes, SYMLINK, typeOfMode } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';
import { type Pattern, parsePattern } from './pattern.ts';

const FILE = '.gitattributes' as RawPath;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** Patterns held against paths in one archive: what takes more than half a minute is refused. */
const MAX_CHECKS = 50_000_000;

interface Rule {
  readonly pattern: Pattern;
  /** False where the attribute is unset, or given another value. */
  readonly ignore: boolean;
}

/** The rules of one `.gitattributes`, the last first. */
interface Frame {
  /** `a/b/`, or '' at the root */
  readonly below: string;
  readonly rules: readonly Rule[];
}

/**
 * Which paths the `.gitattributes` files of a tree mark as `export-ignore` (gitattributes): the nearest file decides,
 * in it the last pattern that matches. Macros are not expanded.
 */
export class Attributes {
  readonly #frames: Frame[] = [];
  #checks = 0;

  /** Reads the rules of a directory that a walk enters. May be called again after a miss. */
  enter(objects: SyncObjects, path: RawPath, tree: Oid): void {
    const below = path === '' ? '' : `${path}/`;
    const rules = readRules(objects, tree);
    while (this.#frames.length > 0 && !isBelow(below, this.#frames.at(-1)!)) this.#frames.pop();
    if (rules.length > 0) this.#frames.push({ below, rules });
  }

  /** @throws CorruptData `limit` */
  ignores(path: RawPath, directory: boolean): boolean {
    for (let i = this.#frames.length - 1; i >= 0; i--) {
      const frame = this.#frames[i]!;
      if (!path.startsWith(frame.below)) continue;
      this.#checks += frame.rules.length;
      if (this.#checks > MAX_CHECKS) throw new CorruptData('limit', 'too many patterns in .gitattributes');
      const relative = path.slice(frame.below.length);
      const rule = frame.rules.find(({ pattern }) => pattern(relative, directory));
      if (rule) return rule.ignore;
    }
    return false;
  }
}

/** A frame of the directory itself is not kept either: it is read anew. */
const isBelow = (below: string, frame: Frame) => below.startsWith(frame.below) && below !== frame.below;

function readRules(objects: SyncObjects, tree: Oid): Rule[] {
  const entry = findName(readTreeBytes(objects, tree), FILE);
  if (entry === undefined || typeOfMode(entry.mode) !== 'blob' || entry.mode === SYMLINK) return [];
  if (objects.header(entry.oid).size > MAX_FILE_BYTES)
    throw new CorruptData('limit', `.gitattributes over ${MAX_FILE_BYTES} bytes`);
  return parseRules(asBuffer(objects.read(entry.oid).data).toString('latin1'));
}

/** Lines that say something of `export-ignore`, the last first. */
export function parseRules(text: string): Rule[] {
  const rules: Rule[] = [];
  for (const line of text.split('\n')) {
    if (!line.includes('export-ignore')) continue;
    const parsed = splitLine(line.trim());
    if (parsed === undefined) continue;
    const state = parsed.states.findLast((word) => /^[-!]?export-ignore(=|$)/.test(word));
    const pattern = state === undefined ? undefined : parsePattern(parsed.pattern);
    // An attribute that is made unspecified (`!`) leaves no trace of earlier lines: as if it were unset.
    if (pattern) rules.unshift({ pattern, ignore: state === 'export-ignore' });
  }
  return rules;
}

/** @returns undefined for comments, macros and lines that are none */
function splitLine(line: string): { pattern: string; states: string[] } | undefined {
  if (line === '' || line.startsWith('#') || line.startsWith('[attr]') || line.startsWith('!'))
    return undefined;
  const quoted = /^"((?:[^"\\]|\\.)*)"\s/.exec(line);
  const end = quoted ? quoted[0].length : line.search(/\s/);
  if (end < 0) return undefined;
  const pattern = quoted ? unquoted(quoted[1]!) : line.slice(0, end);
  return { pattern, states: line.slice(end).trim().split(/\s+/) };
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** C-style quoting: `\t`, `\"`, `\\`, three octal digits. */
function unquoted(text: string): string {
  return text.replace(/\\([0-3][0-7]{2}|.)/g, (_, code: string) =>
    code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (ESCAPES[code] ?? code),
  );
}
