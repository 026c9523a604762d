/** The language of CODEOWNERS. */

import { type Pattern, parsePattern } from '../../git/archive/pattern.ts';
import { Effort, LimitExceeded, type Steps } from '../../git/work.ts';
import { MAX_APPROVALS } from '../../records/approvals.ts';

export interface Owners {
  /** Names of users and full paths of groups, in lower case. */
  readonly names: readonly string[];
  /** Addresses of users, in lower case. */
  readonly addresses: readonly string[];
}

/** A pattern, and who owns the files that it matches. */
export interface OwnersEntry extends Owners {
  /** As it is written. */
  readonly pattern: string;
  readonly matches: Pattern;
}

export interface OwnersSection {
  readonly name: string;
  /** Approvals of owners that each of its entries needs; 0: they are optional. */
  readonly approvalsRequired: number;
  readonly entries: readonly OwnersEntry[];
}

/** Entries before the first heading are in this section. */
export const DEFAULT_SECTION = 'codeowners';

const MAX_ENTRIES = 10_000;
const MAX_SECTIONS = 500;
const MAX_LINE = 16 * 1024;
/** A longer pattern could not be matched in little time. */
const MAX_PATTERN = 512;
const MAX_SECTION_NAME = 255;
/** Owners of one entry: further ones do not count. */
const MAX_OWNERS = 100;
const MAX_NAME = 255;

interface OpenSection {
  readonly name: string;
  readonly entries: OwnersEntry[];
  approvalsRequired: number;
  /** All headings above its entries make it optional. */
  isOptional: boolean;
}

interface Heading {
  readonly name: string;
  readonly isOptional: boolean;
  readonly approvalsRequired: number;
  /** Of its entries that name none. */
  readonly owners: Owners;
}

const NOBODY: Owners = { names: [], addresses: [] };

/**
 * Parses a file: entries `pattern owner ...`, comments, and headings `[Name]`, `^[Name]` of optional sections, `[Name][2]`
 * of more approvals, `[Name] @owner` of owners for all entries that name none. Headings of one name, in upper or lower case,
 * are one section, which is optional where all of them are. What is no owner after a pattern is passed over.
 * @throws LimitExceeded
 */
export function* parseOwners(text: string): Steps<readonly OwnersSection[]> {
  const sections = new Map<string, OpenSection>();
  const effort = new Effort();
  let heading: Heading = { name: DEFAULT_SECTION, isOptional: false, approvalsRequired: 1, owners: NOBODY };
  let count = 0;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    if (effort.spend(20 * (end - start + 5))) yield;
    if (end - start > MAX_LINE) throw tooLarge();
    const line = text.slice(start, end).trim();
    start = end + 1;
    if (line === '' || line.startsWith('#')) continue;
    const found = headingOf(line);
    if (found !== undefined) {
      heading = found;
      continue;
    }
    if (++count > MAX_ENTRIES) throw tooLarge();
    sectionOf(sections, heading).entries.push(entryOf(line, heading.owners));
  }
  return [...sections.values()].map(({ name, entries, isOptional, approvalsRequired }) => ({
    name,
    entries,
    approvalsRequired: isOptional ? 0 : approvalsRequired,
  }));
}

export const tooLarge = (): LimitExceeded => new LimitExceeded('CODEOWNERS is too large');

const HEADING = /^(\^?)\[([^\]]*)\](?:\[(\d{1,9})\])?(.*)$/s;

function headingOf(line: string): Heading | undefined {
  const [, optional, name, required, owners] = HEADING.exec(line) ?? [];
  if (name === undefined || name.trim() === '') return undefined;
  if (name.length > MAX_SECTION_NAME) throw tooLarge();
  return {
    name: name.trim(),
    isOptional: optional !== '',
    approvalsRequired: Math.min(MAX_APPROVALS, Math.max(1, Number(required ?? 1))),
    owners: ownersIn(owners!),
  };
}

/** The section of a heading, which has an entry now. */
function sectionOf(sections: Map<string, OpenSection>, heading: Heading): OpenSection {
  const key = heading.name.toLowerCase();
  const { name, isOptional, approvalsRequired } = heading;
  const known = sections.get(key) ?? { name, entries: [], isOptional: true, approvalsRequired };
  known.isOptional &&= isOptional;
  known.approvalsRequired = Math.max(known.approvalsRequired, approvalsRequired);
  sections.set(key, known);
  if (sections.size > MAX_SECTIONS) throw tooLarge();
  return known;
}

function entryOf(line: string, otherwise: Owners): OwnersEntry {
  const length = patternLength(line);
  if (length > MAX_PATTERN) throw tooLarge();
  const pattern = line.slice(0, length);
  const own = ownersIn(line.slice(length));
  const isNamed = own.names.length + own.addresses.length > 0;
  return { pattern, matches: matcherOf(pattern), ...(isNamed ? own : otherwise) };
}

/** Up to the first white space without a backslash before it. */
function patternLength(line: string): number {
  for (let i = 0; i < line.length; i++) {
    if (line[i] === '\\') i++;
    else if (/\s/.test(line[i]!)) return i;
  }
  return line.length;
}

/**
 * A pattern that begins with a slash is for the root of the repository, any other for every directory; one that ends in a
 * slash is for all files in the directory. `*` matches no slash, `**` between slashes any number of directories.
 */
function matcherOf(text: string): Pattern {
  const inDirectory = text.endsWith('/') ? `${text}**/*` : text;
  const isAnywhere = inDirectory.includes('/') && !inDirectory.startsWith('/');
  const matches = parsePattern(isAnywhere ? `**/${inDirectory}` : inDirectory)!;
  if (!inDirectory.startsWith('/')) return matches;
  // Most paths are told apart by how the pattern begins.
  const [start] = /^[^*?[\\]*/.exec(inDirectory.slice(1))!;
  return (path, ...more) => path.startsWith(start) && matches(path, ...more);
}

const NAME = /^@([\w.][\w.-]*(?:\/[\w.][\w.-]*)*)$/;
const EMAIL = /^[^@]+@[^@]+$/;

function ownersIn(text: string): Owners {
  const names = new Set<string>();
  const addresses = new Set<string>();
  for (const each of text.split(/[\s,]+/)) {
    if (names.size + addresses.size >= MAX_OWNERS) break;
    if (!each.includes('@') || each.length > MAX_NAME) continue;
    const word = each.replace(/[.:;)]+$/, '');
    const name = NAME.exec(word)?.[1];
    if (name !== undefined) names.add(name.toLowerCase());
    else if (EMAIL.test(word)) addresses.add(word.toLowerCase());
  }
  return { names: [...names], addresses: [...addresses] };
}
