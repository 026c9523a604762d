import { asBuffer } from '../../bytes/as-buffer.ts';
import type { SyncObjects } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { findName, readTreeBytes, SYMLINK, typeOfMode } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';
import { LimitExceeded } from '../work.ts';
import type { LineEnds } from './line-ends.ts';
import { type MatchWork, type Pattern, parsePattern } from './pattern.ts';

const FILE = '.gitattributes' as RawPath;
const MAX_FILE_BYTES = 512 * 1024;
/** Steps of matching patterns for one answer: one or two seconds. */
const MAX_STEPS = 60_000_000;

/** What a line does to an attribute: set, unset, set to a value, or `null` for "unspecified". */
export type AttributeState = true | false | string | null;
type State = AttributeState;

interface Rule {
  readonly pattern: Pattern;
  readonly states: ReadonlyMap<Name, State>;
}

/** The attributes that affect archives, and those that affect language statistics. */
const NAMES = [
  'export-ignore',
  'text',
  'eol',
  'filter',
  'linguist-vendored',
  'linguist-generated',
  'linguist-documentation',
  'linguist-detectable',
  'linguist-language',
] as const;
export type AttributeName = (typeof NAMES)[number];
type Name = AttributeName;

/** The rules of one `.gitattributes`. */
interface Frame {
  /** `a/b/`, or '' at the root */
  readonly below: string;
  /** By attribute, the last rule first. */
  readonly rules: ReadonlyMap<Name, readonly Rule[]>;
}

/**
 * The attributes of paths, from the `.gitattributes` files of a tree (gitattributes): the nearest file decides, and in
 * it the last pattern that matches. `binary` is the only macro supported.
 */
export class Attributes {
  readonly #frames: Frame[] = [];
  readonly #work: MatchWork = { steps: 0 };

  /** Reads the rules of a directory when a walk enters it. May be called again after a BlockMiss. */
  enter(objects: SyncObjects, path: RawPath, tree: Oid): void {
    const below = path === '' ? '' : `${path}/`;
    const rules = readRules(objects, tree);
    while (this.#frames.length > 0 && !isBelow(below, this.#frames.at(-1)!)) this.#frames.pop();
    if (rules.size > 0) this.#frames.push({ below, rules });
  }

  /** Whether the path is marked `export-ignore`. @throws LimitExceeded */
  ignores(path: RawPath, directory: boolean): boolean {
    return this.state(path, directory, 'export-ignore') === true;
  }

  /** How to convert a file's line ends to CRLF; undefined when they stay. @throws LimitExceeded */
  lineEnds(path: RawPath): LineEnds | undefined {
    if (this.state(path, false, 'eol') !== 'crlf') return undefined;
    const text = this.state(path, false, 'text');
    if (text === false) return undefined;
    return text === 'auto' ? 'auto' : 'always';
  }

  /** Whether Git LFS converts a file. @throws LimitExceeded */
  isLfs(path: RawPath): boolean {
    return this.state(path, false, 'filter') === 'lfs';
  }

  /** The state of an attribute of a path. @throws LimitExceeded */
  state(path: RawPath, directory: boolean, name: Name): State {
    for (let i = this.#frames.length - 1; i >= 0; i--) {
      const frame = this.#frames[i]!;
      const rules = frame.rules.get(name);
      if (rules === undefined || !path.startsWith(frame.below)) continue;
      if (this.#work.steps > MAX_STEPS) throw new LimitExceeded('too many patterns in .gitattributes');
      const relative = path.slice(frame.below.length);
      this.#work.steps += rules.length;
      const rule = rules.find(({ pattern }) => pattern(relative, directory, this.#work));
      if (rule) return rule.states.get(name)!;
    }
    return null;
  }
}

/** Whether the frame is of a parent directory; a frame of the directory itself is read again. */
const isBelow = (below: string, frame: Frame) => below.startsWith(frame.below) && below !== frame.below;

function readRules(objects: SyncObjects, tree: Oid): ReadonlyMap<Name, readonly Rule[]> {
  const entry = findName(readTreeBytes(objects, tree), FILE);
  if (entry === undefined || typeOfMode(entry.mode) !== 'blob' || entry.mode === SYMLINK) return new Map();
  if (objects.header(entry.oid).size > MAX_FILE_BYTES)
    throw new LimitExceeded(`.gitattributes over ${MAX_FILE_BYTES} bytes`);
  return parseRules(asBuffer(objects.read(entry.oid).data).toString('latin1'));
}

/** The rules of a `.gitattributes` file, by attribute, the last rule first. */
function parseRules(text: string): ReadonlyMap<Name, readonly Rule[]> {
  const rules = new Map<Name, Rule[]>();
  for (const line of text.split('\n')) {
    const parsed = splitLine(line.trim());
    const states = new Map(parsed?.states.flatMap(stateOf));
    const pattern = parsed === undefined || states.size === 0 ? undefined : parsePattern(parsed.pattern);
    if (pattern === undefined) continue;
    for (const name of states.keys()) {
      const known = rules.get(name);
      if (known) known.push({ pattern, states });
      else rules.set(name, [{ pattern, states }]);
    }
  }
  for (const known of rules.values()) known.reverse();
  return rules;
}

/** `name`, `-name`, `!name`, `name=value`. */
function stateOf(word: string): [Name, State][] {
  if (word === 'binary') return [['text', false]];
  const [, sign, name, value] = /^([-!]?)([^=]*)(?:=(.*))?$/.exec(word) ?? [];
  const known = NAMES.find((one) => one === name);
  if (known === undefined) return [];
  return [[known, sign === '-' ? false : sign === '!' ? null : (value ?? true)]];
}

/** @returns undefined for comments, macros and malformed lines */
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
