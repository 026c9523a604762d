import { asBuffer } from '../bytes/as-buffer.ts';
import type { Report } from './fsck-text.ts';
import { Effort, type Steps } from './work.ts';

export const MAX_GITMODULES_BYTES = 16 * 1024 * 1024;
/** Bytes of a line, with those that continue it: more than can be passed to git as a URL. */
const MAX_LINE = 64 * 1024;

/** Checks the content of `.gitmodules` (CVE-2018-11235, CVE-2018-17456, CVE-2019-19604, CVE-2020-11008). */
export class GitmodulesCheck {
  readonly #report: Report;
  /** A name may be long, and have millions of settings. */
  #name: string | undefined;
  #isSafe = true;

  constructor(report: Report) {
    this.#report = report;
  }

  /** @param data undefined for more than can be read */
  *check(data: Uint8Array | undefined): Steps<undefined> {
    if (data === undefined || data.length > MAX_GITMODULES_BYTES)
      return this.#report('gitmodulesLarge', '.gitmodules too large to parse');
    for (const setting of settingsIn(asBuffer(data).toString('latin1'))) {
      if (setting === undefined) yield;
      else if (setting === 'too long')
        return this.#report('gitmodulesLarge', '.gitmodules has too long lines to parse');
      else if (setting === 'malformed')
        return this.#report('gitmodulesParse', 'could not parse gitmodules blob');
      else this.#checkSetting(setting);
    }
  }

  #checkSetting({ submodule, key, value }: Setting): void {
    if (submodule !== this.#name) {
      this.#name = submodule;
      this.#isSafe = isSafeName(submodule);
    }
    if (!this.#isSafe) this.#report('gitmodulesName', `disallowed submodule name: ${shown(submodule)}`);
    if (value === undefined) return;
    if (key === 'url' && !isSafeUrl(value))
      this.#report('gitmodulesUrl', `disallowed submodule url: ${shown(value)}`);
    if (key === 'path' && value.startsWith('-')) {
      this.#report('gitmodulesPath', `disallowed submodule path: ${shown(value)}`);
    }
    if (key === 'update' && value.startsWith('!')) {
      this.#report('gitmodulesUpdate', `disallowed submodule update setting: ${shown(value)}`);
    }
  }
}

/** The start of text whose characters are bytes. */
const shown = (text: string): string => Buffer.from(text.slice(0, 1000), 'latin1').toString('utf8');

/** A name becomes a directory below `.git/modules`. */
function isSafeName(name: string): boolean {
  return name !== '' && !name.split(/[/\\]/).includes('..');
}

/** A URL must not look like an option, pass a newline to a credential helper, or use `../` to leave its host. */
function isSafeUrl(url: string): boolean {
  if (url.startsWith('-')) return false;
  if (/^\.\.?[/\\]/.test(url) || url.startsWith('git://')) {
    if (LINE_END.test(url)) return false;
    let rest = url;
    let climbed = false;
    for (let step = /^(\.\.?)[/\\]/.exec(rest); step; step = /^(\.\.?)[/\\]/.exec(rest)) {
      climbed ||= step[1] === '..';
      rest = rest.slice(step[0].length);
    }
    return !(climbed && (rest.startsWith(':') || rest.startsWith('/')));
  }
  const remote = /^(?:(?:https?|ftps?)::)(.*)|^((?:https?|ftps?):\/\/.*)/s.exec(url);
  if (remote === null) return true;
  return !LINE_END.test(url) && WITH_HOST.test(remote[1] ?? remote[2]!);
}

/** In a URL, whose escapes are decoded byte by byte. */
const LINE_END = /\n|%0a/i;
const WITH_HOST = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?[a-z0-9._[\]-][a-z0-9._[\]:-]*(?:[/?#]|$)/i;

interface Setting {
  readonly submodule: string;
  readonly key: string;
  readonly value: string | undefined;
}

/**
 * The settings of submodules, as git's parser of configurations finds them: a difference would let pass what clients obey. They end
 * with a word where git would give up, or where a line is longer than one that is read. Undefined: a stop for others.
 * @param text each character is a byte
 */
function* settingsIn(text: string): Generator<Setting | 'malformed' | 'too long' | undefined, void> {
  const effort = new Effort();
  const source = new Source(text);
  let section: Section = {};
  for (;;) {
    const from = source.at;
    const found = nextIn(source);
    if (source.isTooLong) return yield 'too long';
    if (found === 'malformed') return yield found;
    if (found === 'end') return;
    if (found !== undefined) {
      if ('section' in found) section = found.section;
      else if (section.submodule !== undefined)
        yield { submodule: section.submodule, key: section.key ?? found.key, value: found.value };
    }
    if (effort.spend(STEP_EFFORT + BYTE_EFFORT * (source.at - from))) yield;
  }
}

/** Steps of {@link Effort} for whatever is found next, and for each byte of it. */
const STEP_EFFORT = 100;
const BYTE_EFFORT = 10;

/** Where settings are. */
interface Section {
  /** Undefined where they are not those of a submodule. */
  readonly submodule?: string;
  /** What all its settings set, whatever their keys. */
  readonly key?: string;
}

type Found =
  | { readonly section: Section }
  | { readonly key: string; readonly value: string | undefined }
  | 'malformed'
  | 'end';

/** @returns undefined for what says nothing */
function nextIn(source: Source): Found | undefined {
  const char = source.next();
  if (char === '\n') return source.isOver ? 'end' : undefined;
  if (isSpace(char)) return undefined;
  if (char === '#' || char === ';') return restOfLine(source);
  if (char === '[') {
    const name = sectionName(source);
    return name === undefined ? 'malformed' : { section: sectionOf(name) };
  }
  if (!/[a-z]/i.test(char)) return 'malformed';
  let key = char.toLowerCase();
  let after = source.next();
  for (; isOfKey(after); after = source.next()) key += after.toLowerCase();
  while (after === ' ' || after === '\t') after = source.next();
  if (after === '\n') return { key, value: undefined };
  const value = after === '=' ? valueIn(source) : undefined;
  return value === undefined ? 'malformed' : { key, value };
}

const isSpace = (char: string): boolean => char === ' ' || char === '\t' || char === '\r';
const isOfKey = (char: string): boolean => /[a-z0-9-]/i.test(char);

function restOfLine(source: Source): undefined {
  while (source.next() !== '\n') {
    // A comment.
  }
}

/** What is in brackets: a name, and behind a dot of its own what may follow it in quotes. @returns undefined for anything else */
function sectionName(source: Source): string | undefined {
  let name = '';
  let char = source.next();
  for (; isOfKey(char) || char === '.'; char = source.next()) name += char.toLowerCase();
  if (char === ']') return name || undefined;
  if (!isSpace(char)) return undefined;
  while (isSpace(char)) char = source.next();
  if (char !== '"') return undefined;
  name += '.';
  for (char = source.next(); char !== '"'; char = source.next()) {
    if (char === '\\') char = source.next();
    if (char === '\n') return undefined;
    name += char;
  }
  return source.next() === ']' ? name : undefined;
}

const SUBMODULE = 'submodule.';

function sectionOf(name: string): Section {
  if (!name.startsWith(SUBMODULE)) return {};
  // In git a setting's name is that of its section with its key behind it, and ends before a zero.
  const end = name.indexOf('\0');
  if (end < 0) return { submodule: name.slice(SUBMODULE.length) };
  const dot = name.lastIndexOf('.', end);
  if (dot < SUBMODULE.length) return {};
  return { submodule: name.slice(SUBMODULE.length, dot), key: name.slice(dot + 1, end) };
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '\\': '\\', '"': '"' };

/** @returns undefined where git would give up */
function valueIn(source: Source): string | undefined {
  let value = '';
  /** Without the spaces at its end. */
  let length = 0;
  let quoted = false;
  for (;;) {
    const char = source.next();
    if (char === '\n' && quoted) return undefined;
    const isComment = !quoted && (char === '#' || char === ';');
    if (isComment) restOfLine(source);
    if (isComment || char === '\n') return value.slice(0, length).split('\0', 1)[0];
    if (!quoted && isSpace(char)) {
      if (value !== '') value += char;
      continue;
    }
    if (char === '"') quoted = !quoted;
    else if (char === '\\') {
      const next = source.next({ goesOn: true });
      if (next !== '\n' && !(next in ESCAPED)) return undefined;
      value += ESCAPED[next] ?? '';
    } else value += char;
    length = value.length;
  }
}

/** Bytes one by one. A line may end with CR LF, the last one with nothing. */
class Source {
  readonly #text: string;
  #at: number;
  #lineAt = 0;
  isTooLong = false;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith('\u00ef\u00bb\u00bf') ? 3 : 0;
  }

  get at(): number {
    return this.#at;
  }

  get isOver(): boolean {
    return this.isTooLong || this.#at > this.#text.length;
  }

  /** The end of a line as `\n`, also what is behind the end. @param options.goesOn whether the line goes on behind its end */
  next({ goesOn = false } = {}): string {
    const text = this.#text;
    if (this.#at - this.#lineAt > MAX_LINE) this.isTooLong = true;
    if (this.isTooLong) return '\n';
    let char = text[this.#at++] ?? '\n';
    if (char === '\r' && text[this.#at] === '\n') char = text[this.#at++]!;
    if (char === '\n' && !goesOn) this.#lineAt = this.#at;
    return char;
  }
}
