/** Finds references in text: `#1`, `group/project!2`, `~label`, `%"milestone"`, `@user`, commits, URLs of the instance. */
import type { Steps } from '../../git/work.ts';
import { proseOf } from './prose.ts';

interface Common {
  /** As written. References that are written alike in a text are the same. */
  readonly source: string;
}

/** Something with a number in a project or group: `#1`, `!1`, `&1`, `$1`, or its URL. */
export interface NumberedReference extends Common {
  readonly kind: 'issue' | 'merge-request' | 'epic' | 'snippet';
  /** Path of the project (of the group, for an epic) as written, perhaps only its last part; absent: the text's own. */
  readonly container?: string;
  /** Its number in the project or group; a snippet's id. */
  readonly number: number;
  /** The comment that a URL names. */
  readonly note?: number;
}

/** A label or milestone, by its title or by its number (id of a label, iid of a milestone). */
export interface TitledReference extends Common {
  readonly kind: 'label' | 'milestone';
  readonly container?: string;
  readonly title?: string;
  readonly number?: number;
}

/** A user or group, `@name`; `all` is everybody in the project. */
export interface MentionReference extends Common {
  readonly kind: 'mention';
  readonly name: string;
}

/** A commit: the first 7 to 40 hexadecimal digits of its id. */
export interface CommitReference extends Common {
  readonly kind: 'commit';
  readonly container?: string;
  readonly sha: string;
}

export type Reference = NumberedReference | TitledReference | MentionReference | CommitReference;

/** A reference and its place in the text. */
export interface FoundReference {
  readonly reference: Reference;
  readonly index: number;
}

/** Maximum number of different references of one text; further ones stay text. */
export const MAX_REFERENCES = 1000;
/** References of a text that are looked at, however many of them are the same. */
const MAX_SEEN = 10_000;

/**
 * Returns the references of a Markdown text, each once and in order, at most {@link MAX_REFERENCES}. Code contains none.
 * @param baseUrl public base URL of the instance, whose URLs are references too
 * @param withQuotes whether what stands in block quotes counts; default: no
 */
export function* referencesIn(
  text: string,
  { baseUrl, withQuotes = false }: { readonly baseUrl?: string; readonly withQuotes?: boolean } = {},
): Steps<Reference[]> {
  const found = new Map<string, Reference>();
  for (const each of referencesOf(yield* proseOf(text, { withQuotes }), baseUrl)) {
    if (each === undefined) {
      yield;
      continue;
    }
    const { reference } = each;
    found.set(reference.source, reference);
    if (found.size >= MAX_REFERENCES) break;
  }
  return [...found.values()];
}

/**
 * Yields the references of a text that contains no code, in order, and undefined now and then, where a long search may stop.
 * Takes time linear in the text's length.
 */
export function* referencesOf(text: string, baseUrl?: string): Generator<FoundReference | undefined> {
  const pattern = baseUrl === undefined ? PLAIN : urlPattern(baseUrl);
  let seen = 0;
  for (let at = 0; at < text.length; ) {
    // What stands before a reference, and all of one that begins in this part, is searched with it.
    const from = Math.max(0, at - BEFORE);
    const end = at + PART;
    let next = end;
    // The copy that searches begins there.
    pattern.lastIndex = at - from;
    for (const match of text.slice(from, end + LONGEST).matchAll(pattern)) {
      const index = from + match.index;
      if (index >= end) break;
      if (++seen > MAX_SEEN) return;
      const reference = referenceFrom(match);
      if (reference !== undefined) yield { reference, index };
      next = Math.max(next, index + match[0].length);
    }
    at = next;
    if (at < text.length) yield undefined;
  }
}

/** Characters that are searched at once, that decide whether a reference may begin, and of the longest reference and more. */
const PART = 64 * 1024;
const BEFORE = 2;
const LONGEST = 16 * 1024;

/** Whether a text may refer to an issue: a quick look, for texts that most often do not. */
export const mayNameIssues = (text: string | null | undefined): boolean =>
  text != null && /#\d|\/issues\/\d/.test(text);

/** The same of anything that is told where it is named: issues, merge requests, epics and commits. */
export const mayNameAny = (text: string | null | undefined): boolean =>
  text != null &&
  /[#!&]\d|\/(?:issues|merge_requests|epics)\/\d|(?<![A-Za-z0-9])[0-9a-f]{7,40}(?![A-Za-z0-9])/.test(text);

/** The reference that a text is as a whole, such as the URL of a link. */
export function referenceAt(text: string, baseUrl: string): Reference | undefined {
  const [first] = referencesOf(text, baseUrl);
  return first?.reference.source === text ? first.reference : undefined;
}

const SEGMENT = '[A-Za-z0-9_][\\w.-]{0,254}';
const PATH = `${SEGMENT}(?:/${SEGMENT}){0,20}`;
/** `_#1_` is an emphasized reference, not one to a project of the name `_`. */
const CONTAINER = `(?!_+[#!&$%~])${PATH}`;
/** Not inside a word, a path or an address, and not escaped. Emphasis (`_#1_`) may surround a reference. */
const BEGINS = '(?<![A-Za-z0-9./#!$&@+\\\\-]|[A-Za-z0-9_]_)';
const ENDS = '(?![A-Za-z0-9]|_[A-Za-z0-9])';
/** `::` separates the scope of a label from its value. */
const TITLE = '[\\p{L}\\p{N}_][\\p{L}\\p{N}_.?&:-]{0,254}';

const REFERENCE = [
  `(?:(?<numbered>${CONTAINER})?(?<sigil>[#!&$])(?<number>\\d{1,15})${ENDS})`,
  `(?:(?<titled>${CONTAINER})?(?<mark>[%~])(?:"(?<quoted>[^"\\n]{1,255})"|(?<id>\\d{1,15})${ENDS}(?![.?&:-]+[\\p{L}\\p{N}_])|(?<title>${TITLE})))`,
  `(?:@(?<name>${PATH}))`,
  `(?:(?:(?<repository>${PATH})@)?(?<sha>[0-9a-f]{7,40})${ENDS})`,
].join('|');

const PLAIN = new RegExp(`${BEGINS}(?:${REFERENCE})`, 'gu');

const patterns = new Map<string, RegExp>();

/** The pattern that finds URLs of the instance as well, also those of before the product put `/-/` into them. */
function urlPattern(baseUrl: string): RegExp {
  let pattern = patterns.get(baseUrl);
  if (pattern === undefined) {
    const url = `${baseUrl.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}/(?:groups/)?(?<place>${PATH})/(?:-/)?(?:(?<what>issues|merge_requests|epics|snippets|milestones)/(?<iid>\\d{1,15})(?:#note_(?<note>\\d{1,15}))?|commit/(?<commit>[0-9a-f]{7,40}))${ENDS}(?![/#?])`;
    pattern = new RegExp(`${BEGINS}(?:${url}|${REFERENCE})`, 'gu');
    // An instance has one base URL, or a few names.
    if (patterns.size >= 10) patterns.clear();
    patterns.set(baseUrl, pattern);
  }
  return pattern;
}

const BY_SIGIL = { '#': 'issue', '!': 'merge-request', '&': 'epic', $: 'snippet' } as const;
const BY_NAME = {
  issues: 'issue',
  merge_requests: 'merge-request',
  epics: 'epic',
  snippets: 'snippet',
  milestones: 'milestone',
} as const;

function referenceFrom({ 0: source, groups = {} }: RegExpMatchArray): Reference | undefined {
  const { sigil, mark, name, sha, what, commit } = groups;
  if (sigil !== undefined) {
    const kind = BY_SIGIL[sigil as keyof typeof BY_SIGIL];
    return { kind, source, number: Number(groups['number']), ...within(groups['numbered']) };
  }
  if (mark !== undefined) {
    const kind = mark === '~' ? 'label' : 'milestone';
    const { quoted, id } = groups;
    if (id !== undefined) return { kind, source, number: Number(id), ...within(groups['titled']) };
    const title = quoted ?? trimmed(groups['title']!);
    const written = quoted === undefined ? trimmed(source) : source;
    return { kind, source: written, title, ...within(groups['titled']) };
  }
  if (name !== undefined)
    return { kind: 'mention', source: `@${trimmedName(name)}`, name: trimmedName(name) };
  if (sha !== undefined) return { kind: 'commit', source, sha, ...within(groups['repository']) };
  if (what !== undefined) {
    const note = groups['note'] === undefined ? {} : { note: Number(groups['note']) };
    const kind = BY_NAME[what as keyof typeof BY_NAME];
    return { kind, source, number: Number(groups['iid']), ...within(groups['place']), ...note };
  }
  if (commit !== undefined) return { kind: 'commit', source, sha: commit, ...within(groups['place']) };
  return undefined;
}

const within = (container: string | undefined) => (container === undefined ? {} : { container });
/** The end of a sentence is no part of a title or name. */
const trimmed = (title: string): string => title.replace(/[.?&:-]+$/, '');
const trimmedName = (name: string): string => name.replace(/[.-]+$/, '');
