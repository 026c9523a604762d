/** How titles, slugs and files of wiki pages belong together. Pure. */
import { basename, dirname } from 'node:path/posix';

export const WIKI_FORMATS = ['markdown', 'rdoc', 'asciidoc', 'org'] as const;
export type WikiFormat = (typeof WIKI_FORMATS)[number];

/** The first of a format is what new pages get; the others were pushed. */
const EXTENSIONS: Readonly<Record<WikiFormat, readonly string[]>> = {
  markdown: ['md', 'markdown', 'mkd', 'mkdn', 'mdown'],
  rdoc: ['rdoc'],
  asciidoc: ['asciidoc', 'adoc'],
  org: ['org'],
};

const FORMAT_OF = new Map(
  WIKI_FORMATS.flatMap((format) => EXTENSIONS[format].map((extension) => [extension, format] as const)),
);

/** Where attachments are. */
export const UPLOADS = 'uploads';
const ATTACHMENT = new RegExp(`^${UPLOADS}/[0-9a-f]{32}/`);

/** Bytes of a page's name: with the longest extension it is a file's. */
const MAX_NAME_BYTES = 245;
const MAX_DIRECTORY_BYTES = 255;
const MAX_PATH_BYTES = 4000;

/** What the path of a file says of the page in it. */
export interface PageName {
  readonly slug: string;
  /** The last part of the slug, with spaces for hyphens. */
  readonly title: string;
  readonly format: WikiFormat;
}

/** @returns undefined for a file that is no page */
export function pageNameOf(path: string): PageName | undefined {
  const dot = path.lastIndexOf('.');
  const format = dot < 0 ? undefined : FORMAT_OF.get(path.slice(dot + 1).toLowerCase());
  const slug = path.slice(0, Math.max(0, dot));
  if (format === undefined || slug === '' || slug.endsWith('/') || ATTACHMENT.test(path)) return undefined;
  return { slug, title: titleOfSlug(slug), format };
}

const titleOfSlug = (slug: string): string => basename(slug).replaceAll('-', ' ');

/** The file of a new page. */
export const fileOf = (slug: string, format: WikiFormat): string => `${slug}.${EXTENSIONS[format][0]}`;

/** The files that may have the page of a slug, those that this service makes first. */
export const filesOf = (slug: string): readonly string[] =>
  [...WIKI_FORMATS]
    .flatMap((format) => EXTENSIONS[format].map((extension, place) => ({ extension, place })))
    .sort((a, b) => a.place - b.place)
    .map(({ extension }) => `${slug}.${extension}`);

/** The slug as it may have been sent: with spaces for hyphens, or in another form of the same characters. */
export const slugsLike = (slug: string): readonly string[] => [
  ...new Set([slug, slugged(slug), slugged(slug.normalize('NFC'))]),
];

const slugged = (title: string): string => title.replaceAll(/\s/gu, '-');

/**
 * The slug of a page with this title. White space at the ends of each part is dropped, and elsewhere becomes one hyphen.
 * @param current slug of the page that is renamed: a title without directory stays in its directory, and `/title` does not
 * @returns the problem, as a validation of `title` reports it, if there can be no such page
 */
export function slugOfTitle(title: string, current?: string): { slug: string } | { problem: string } {
  const parts = title
    .toWellFormed()
    .normalize('NFC')
    .split('/')
    .map((part) => part.trim().replaceAll(/\s+/gu, ' '));
  const fromRoot = parts.length > 1 && parts[0] === '';
  const named = fromRoot ? parts.slice(1) : parts;
  if (named.join('') === '') return { problem: "can't be blank" };
  const problem = named.map(problemOf).find((each) => each !== undefined);
  if (problem !== undefined) return { problem };
  const name = named.at(-1)!;
  if (Buffer.byteLength(name) > MAX_NAME_BYTES)
    return { problem: `exceeds the limit of ${MAX_NAME_BYTES} bytes` };
  if (named.slice(0, -1).some((part) => Buffer.byteLength(part) > MAX_DIRECTORY_BYTES))
    return { problem: `exceeds the limit of ${MAX_DIRECTORY_BYTES} bytes for directory names` };
  const directory = current === undefined || fromRoot || named.length > 1 ? '' : dirname(current);
  const path = slugged(named.join('/'));
  const slug = directory === '' || directory === '.' ? path : `${directory}/${path}`;
  if (Buffer.byteLength(slug) > MAX_PATH_BYTES)
    return { problem: `exceeds the limit of ${MAX_PATH_BYTES} bytes` };
  return ATTACHMENT.test(`${slug}/`) ? { problem: 'is reserved for attachments' } : { slug };
}

function problemOf(part: string): string | undefined {
  if (part === '') return 'has an empty part';
  if (part === '.' || part === '..') return 'cannot include directory traversal';
  // Control characters cannot be in file names on many systems; and no part may be git's own directory.
  if (/[\p{Cc}\\]/u.test(part) || /^\.git$/i.test(part)) return 'is invalid';
  return undefined;
}
