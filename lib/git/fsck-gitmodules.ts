import { asBuffer } from '../bytes/as-buffer.ts';
import type { Report } from './fsck-text.ts';

const MAX_BYTES = 16 * 1024 * 1024;

/** Checks the content of `.gitmodules` (CVE-2018-11235, CVE-2018-17456, CVE-2019-19604, CVE-2020-11008). */
export class GitmodulesCheck {
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  check(data: Uint8Array): undefined {
    if (data.length > MAX_BYTES) return this.#report('gitmodulesLarge', '.gitmodules too large to parse');
    const settings = parseConfig(asBuffer(data).toString('utf8'));
    if (!settings) return this.#report('gitmodulesParse', 'could not parse gitmodules blob');
    for (const { section, subsection, key, value } of settings) {
      if (section !== 'submodule' || subsection === undefined) continue;
      if (!isSafeName(subsection)) this.#report('gitmodulesName', `disallowed submodule name: ${subsection}`);
      if (value === undefined) continue;
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

/** git-config's syntax. @returns undefined where git would give up. */
function parseConfig(text: string): Setting[] | undefined {
  const settings: Setting[] = [];
  let section = '';
  let subsection: string | undefined;
  const lines = text
    .replace(/^\ufeff/, '')
    .replace(/\r\n/g, '\n')
    .split('\n');
  for (let i = 0; i < lines.length; i++) {
    let line = lines[i]!.trimStart();
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
    if (!name) return undefined;
    let rest = line.slice(name[0].length);
    const key = name[1]!.toLowerCase();
    if (rest === '' || rest.startsWith('#') || rest.startsWith(';')) {
      settings.push({ section, subsection, key, value: undefined });
      continue;
    }
    if (!rest.startsWith('=')) return undefined;
    rest = rest.slice(1).trimStart();
    while (/(^|[^\\])(\\\\)*\\$/.test(rest) && i + 1 < lines.length) rest = rest.slice(0, -1) + lines[++i]!;
    const value = unquote(rest);
    if (value === undefined) return undefined;
    settings.push({ section, subsection, key, value });
  }
  return settings;
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
