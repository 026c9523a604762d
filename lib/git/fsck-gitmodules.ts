import { asBuffer } from '../bytes/as-buffer.ts';
import type { Report } from './fsck-text.ts';
import { Effort, type Steps } from './work.ts';

const MAX_BYTES = 16 * 1024 * 1024;
/** Characters of a line, with those that continue it: more than can be passed to git as a URL. */
const MAX_LINE = 64 * 1024;

/** Checks the content of `.gitmodules` (CVE-2018-11235, CVE-2018-17456, CVE-2019-19604, CVE-2020-11008). */
export class GitmodulesCheck {
  readonly #report: Report;
  /** A name may be long, and have millions of settings. */
  #safeName: string | undefined;

  constructor(report: Report) {
    this.#report = report;
  }

  *check(data: Uint8Array): Steps<undefined> {
    if (data.length > MAX_BYTES) return this.#report('gitmodulesLarge', '.gitmodules too large to parse');
    const text = asBuffer(data).toString('utf8');
    for (const setting of settingsIn(text)) {
      if (setting === undefined) yield;
      else if (setting === 'too long')
        return this.#report('gitmodulesLarge', '.gitmodules has too long lines to parse');
      else if (setting === 'malformed')
        return this.#report('gitmodulesParse', 'could not parse gitmodules blob');
      else this.#checkSetting(setting);
    }
  }

  #checkSetting({ section, subsection, key, value }: Setting): void {
    if (section !== 'submodule' || subsection === undefined) return;
    if (subsection !== this.#safeName && !isSafeName(subsection))
      this.#report('gitmodulesName', `disallowed submodule name: ${subsection}`);
    else this.#safeName = subsection;
    if (value === undefined) return;
    if (key === 'url' && !isSafeUrl(value))
      this.#report('gitmodulesUrl', `disallowed submodule url: ${value}`);
    if (key === 'path' && value.startsWith('-')) {
      this.#report('gitmodulesPath', `disallowed submodule path: ${value}`);
    }
    if (key === 'update' && value.startsWith('!')) {
      this.#report('gitmodulesUpdate', `disallowed submodule update setting: ${value}`);
    }
  }
}

/** A name becomes a directory below `.git/modules`. */
function isSafeName(name: string): boolean {
  return name !== '' && !name.split(/[/\\]/).includes('..');
}

/** A URL must not look like an option, pass a newline to a credential helper, or use `../` to leave its host. */
function isSafeUrl(url: string): boolean {
  if (url.startsWith('-')) return false;
  let decoded: string;
  try {
    decoded = decodeURIComponent(url);
  } catch {
    decoded = url;
  }
  if (url.startsWith('./') || url.startsWith('../') || url.startsWith('.\\') || url.startsWith('..\\')) {
    if (decoded.includes('\n')) return false;
    let rest = url;
    let climbed = false;
    for (let step = /^(\.\.?)[/\\]/.exec(rest); step; step = /^(\.\.?)[/\\]/.exec(rest)) {
      climbed ||= step[1] === '..';
      rest = rest.slice(step[0].length);
    }
    return !(climbed && (rest.startsWith(':') || rest.startsWith('/')));
  }
  const remote = /^(?:(?:https?|ftps?)::)?((?:https?|ftps?):\/\/.*)$/s.exec(url)?.[1];
  if (remote === undefined) return true;
  if (decoded.includes('\n')) return false;
  return /^[a-z]+:\/\/[^/?#]+/.test(remote) && !/^[a-z]+:\/\/[:]/.test(remote);
}

interface Setting {
  readonly section: string;
  readonly subsection: string | undefined;
  readonly key: string;
  readonly value: string | undefined;
}

/**
 * git-config's syntax, in which a line may end with a backslash and go on. The settings end with a word where git would give
 * up, or where a line is longer than one that is read. Undefined: a stop for others.
 */
function* settingsIn(text: string): Generator<Setting | 'malformed' | 'too long' | undefined, void> {
  let section = '';
  let subsection: string | undefined;
  const effort = new Effort();
  const lines = new Lines(text);
  for (let found = lines.next(); found !== undefined; found = lines.next()) {
    if (found.length > MAX_LINE) return yield 'too long';
    if (effort.spend(LINE_EFFORT + CHARACTER_EFFORT * found.length)) yield;
    let line = found.trimStart();
    const head = /^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    if (head) {
      section = head[1]!.toLowerCase();
      subsection = head[2]?.replace(/\\(.)/g, '$1');
      const dot = section.indexOf('.');
      if (subsection === undefined && dot >= 0) {
        subsection = section.slice(dot + 1);
        section = section.slice(0, dot);
      }
      line = line.slice(head[0].length).trimStart();
    }
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const name = /^([A-Za-z][A-Za-z0-9-]*)\s*/.exec(line);
    if (!name) return yield 'malformed';
    const rest = line.slice(name[0].length);
    const key = name[1]!.toLowerCase();
    if (rest === '' || rest.startsWith('#') || rest.startsWith(';')) {
      yield { section, subsection, key, value: undefined };
      continue;
    }
    if (!rest.startsWith('=')) return yield 'malformed';
    const parts = [rest.slice(1).trimStart()];
    let length = rest.length;
    while (isContinued(parts.at(-1)!)) {
      const next = lines.next();
      if (next === undefined) break;
      length += next.length;
      if (length > MAX_LINE) return yield 'too long';
      if (effort.spend(LINE_EFFORT + CHARACTER_EFFORT * next.length)) yield;
      parts.push(parts.pop()!.slice(0, -1), next);
    }
    const value = unquote(parts.join(''));
    if (value === undefined) return yield 'malformed';
    yield { section, subsection, key, value };
  }
}

/** Steps of {@link Effort} for a line, and for each of its characters. */
const LINE_EFFORT = 100;
const CHARACTER_EFFORT = 10;

/** The lines of a text, one at a time: it may have millions. */
class Lines {
  readonly #text: string;
  #at: number;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith('\ufeff') ? 1 : 0;
  }

  /** Without its end. @returns undefined after the last one */
  next(): string | undefined {
    const text = this.#text;
    if (this.#at > text.length) return undefined;
    const from = this.#at;
    const end = text.indexOf('\n', from);
    this.#at = end < 0 ? text.length + 1 : end + 1;
    if (end < 0) return text.slice(from);
    return text.slice(from, end > from && text[end - 1] === '\r' ? end - 1 : end);
  }
}

/** Whether it ends with an odd number of backslashes: those before the last one are in pairs. */
function isContinued(text: string): boolean {
  let from = text.length;
  while (from > 0 && text[from - 1] === '\\') from--;
  return (text.length - from) % 2 === 1;
}

function unquote(text: string): string | undefined {
  let value = '';
  let kept = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === '"') {
      quoted = !quoted;
      kept = value.length;
    } else if (char === '\\') {
      const escaped = { n: '\n', t: '\t', b: '\b', '\\': '\\', '"': '"' }[text[++i] ?? ''];
      if (escaped === undefined) return undefined;
      value += escaped;
      kept = value.length;
    } else if (!quoted && (char === '#' || char === ';')) {
      break;
    } else {
      value += char;
      if (quoted || !/\s/.test(char)) kept = value.length;
    }
  }
  return quoted ? undefined : value.slice(0, kept);
}
