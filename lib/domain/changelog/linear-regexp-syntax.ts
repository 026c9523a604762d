/** The parts of a regular expression, in the syntax of RE2 (https://github.com/google/re2/wiki/Syntax). */
export type Term =
  | { readonly kind: 'character'; readonly matches: CharacterTest }
  | { readonly kind: 'assertion'; readonly holds: 'start' | 'end' | 'word-boundary' | 'no-word-boundary' }
  | { readonly kind: 'sequence'; readonly items: readonly Term[] }
  | { readonly kind: 'choice'; readonly options: readonly Term[] }
  | { readonly kind: 'group'; readonly index: number; readonly body: Term }
  | {
      readonly kind: 'repeat';
      readonly body: Term;
      readonly min: number;
      /** Infinity for no bound. */
      readonly max: number;
      readonly lazy: boolean;
    };

export type CharacterTest = (codePoint: number) => boolean;

export interface Expression {
  readonly term: Term;
  /** Names of the groups that have one, by their index from 0. The others only hold together. */
  readonly groups: readonly string[];
}

/** The text is no regular expression, or one of those that are not understood here. */
export class BadExpression extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BadExpression';
  }
}

const MAX_LENGTH = 2000;
const MAX_DEPTH = 50;
const MAX_NAMES = 20;
/** RE2's own. */
const MAX_REPEAT = 1000;

/**
 * Literals, `.`, classes, escapes, anchors, groups (named as `(?P<name>…)` or `(?<name>…)`), `|` and the quantifiers.
 * Flags, POSIX and Unicode classes are refused, and so are backreferences and lookaround, which RE2 has not either.
 *
 * @throws BadExpression
 */
export function parseExpression(source: string): Expression {
  return new Parser(source).parse();
}

const codeOf = (character: string): number => character.codePointAt(0)!;
const range =
  (from: number, to: number): CharacterTest =>
  (code) =>
    code >= from && code <= to;
const exactly =
  (wanted: number): CharacterTest =>
  (code) =>
    code === wanted;
const anyOf =
  (tests: readonly CharacterTest[]): CharacterTest =>
  (code) =>
    tests.some((test) => test(code));
const not =
  (test: CharacterTest): CharacterTest =>
  (code) =>
    !test(code);

const digit = range(0x30, 0x39);
export const isWord: CharacterTest = anyOf([digit, range(0x41, 0x5a), range(0x61, 0x7a), exactly(0x5f)]);
/** RE2's whitespace has no vertical tab. */
const space = anyOf([range(0x09, 0x0a), range(0x0c, 0x0d), exactly(0x20)]);

const CLASSES: Readonly<Record<string, CharacterTest>> = {
  d: digit,
  D: not(digit),
  w: isWord,
  W: not(isWord),
  s: space,
  S: not(space),
};
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, a: 7 };
const ASSERTIONS = { A: 'start', z: 'end', b: 'word-boundary', B: 'no-word-boundary' } as const;

class Parser {
  readonly #text: readonly string[];
  #at = 0;
  #depth = 0;
  readonly #groups: string[] = [];

  constructor(source: string) {
    if (source.length > MAX_LENGTH) throw new BadExpression(`longer than ${MAX_LENGTH} characters`);
    this.#text = [...source];
  }

  parse(): Expression {
    const term = this.#choice();
    if (this.#at < this.#text.length) throw new BadExpression('unexpected )');
    return { term, groups: this.#groups };
  }

  get #next(): string | undefined {
    return this.#text[this.#at];
  }

  #take(text: string): boolean {
    const characters = [...text];
    if (!characters.every((character, i) => this.#text[this.#at + i] === character)) return false;
    this.#at += characters.length;
    return true;
  }

  #choice(): Term {
    if (++this.#depth > MAX_DEPTH) throw new BadExpression('too many groups inside each other');
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    this.#depth--;
    return options.length === 1 ? options[0]! : { kind: 'choice', options };
  }

  #sequence(): Term {
    const items: Term[] = [];
    while (this.#next !== undefined && this.#next !== '|' && this.#next !== ')') items.push(this.#repeated());
    return { kind: 'sequence', items };
  }

  #repeated(): Term {
    const body = this.#atom();
    const bounds = this.#quantifier();
    if (bounds === undefined) return body;
    const lazy = this.#take('?');
    if (this.#quantifier() !== undefined) throw new BadExpression('invalid nested repetition operator');
    return { kind: 'repeat', body, ...bounds, lazy };
  }

  #quantifier(): { min: number; max: number } | undefined {
    if (this.#take('*')) return { min: 0, max: Infinity };
    if (this.#take('+')) return { min: 1, max: Infinity };
    if (this.#take('?')) return { min: 0, max: 1 };
    const counted = /^\{(\d{1,9})(?:(,)(\d{0,9}))?\}/.exec(
      this.#text.slice(this.#at, this.#at + 24).join(''),
    );
    // Anything else that begins with a brace is text.
    if (counted === null) return undefined;
    this.#at += counted[0].length;
    const min = Number(counted[1]);
    const max = counted[2] === undefined ? min : counted[3] === '' ? Infinity : Number(counted[3]);
    if (min > max || min > MAX_REPEAT || (max > MAX_REPEAT && max !== Infinity))
      throw new BadExpression('invalid repetition size');
    return { min, max };
  }

  #atom(): Term {
    const character = this.#text[this.#at++]!;
    switch (character) {
      case '.':
        return { kind: 'character', matches: not(exactly(10)) };
      case '^':
        return { kind: 'assertion', holds: 'start' };
      case '$':
        return { kind: 'assertion', holds: 'end' };
      case '(':
        return this.#group();
      case '[':
        return { kind: 'character', matches: this.#class() };
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
        throw new BadExpression('no argument for repetition operator');
      default:
        return { kind: 'character', matches: exactly(codeOf(character)) };
    }
  }

  #group(): Term {
    let index: number | undefined;
    if (this.#take('?P<') || this.#take('?<')) {
      const end = this.#text.indexOf('>', this.#at);
      const name = this.#text.slice(this.#at, Math.max(end, this.#at)).join('');
      if (!/^\w+$/.test(name)) throw new BadExpression('invalid named capture');
      if (this.#groups.includes(name)) throw new BadExpression(`duplicate capture group name: ${name}`);
      this.#at = end + 1;
      index = this.#groups.push(name) - 1;
      if (index >= MAX_NAMES) throw new BadExpression('too many named groups');
    } else if (!this.#take('?:') && this.#next === '?')
      throw new BadExpression('invalid or unsupported perl operator: (?');
    const body = this.#choice();
    if (!this.#take(')')) throw new BadExpression('missing closing )');
    return index === undefined ? body : { kind: 'group', index, body };
  }

  #escape(): Term {
    const character = this.#next;
    if (character !== undefined && Object.hasOwn(ASSERTIONS, character)) {
      this.#at++;
      return { kind: 'assertion', holds: ASSERTIONS[character as keyof typeof ASSERTIONS] };
    }
    const found = this.#escaped();
    return { kind: 'character', matches: typeof found === 'number' ? exactly(found) : found };
  }

  /** What stands behind a backslash, in a class and outside: a character or a set of them. */
  #escaped(): number | CharacterTest {
    const character = this.#text[this.#at++];
    if (character === undefined) throw new BadExpression('trailing \\');
    if (Object.hasOwn(CLASSES, character)) return CLASSES[character]!;
    if (Object.hasOwn(CONTROLS, character)) return CONTROLS[character]!;
    if (character === 'x') {
      const hex = /^(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})/.exec(
        this.#text.slice(this.#at, this.#at + 8).join(''),
      );
      if (hex === null) throw new BadExpression('invalid escape sequence: \\x');
      this.#at += hex[0].length;
      return Number.parseInt(hex[1] ?? hex[2]!, 16);
    }
    if (/[A-Za-z0-9]/.test(character)) throw new BadExpression(`invalid escape sequence: \\${character}`);
    return codeOf(character);
  }

  #class(): CharacterTest {
    const negated = this.#take('^');
    const tests: CharacterTest[] = [];
    // A bracket that comes first is itself.
    for (let first = true; first || this.#next !== ']'; first = false) {
      const from = this.#classMember();
      const to = this.#text[this.#at + 1];
      if (this.#next !== '-' || to === undefined || to === ']') {
        tests.push(typeof from === 'number' ? exactly(from) : from);
        continue;
      }
      this.#at++;
      const until = this.#classMember();
      if (typeof from !== 'number' || typeof until !== 'number' || from > until)
        throw new BadExpression('invalid character class range');
      tests.push(range(from, until));
    }
    this.#at++;
    return negated ? not(anyOf(tests)) : anyOf(tests);
  }

  #classMember(): number | CharacterTest {
    const character = this.#text[this.#at++];
    if (character === undefined) throw new BadExpression('missing closing ]');
    if (character === '[' && this.#next === ':') throw new BadExpression('POSIX classes are not supported');
    return character === '\\' ? this.#escaped() : codeOf(character);
  }
}
