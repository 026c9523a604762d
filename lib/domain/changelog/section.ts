import type { ChangelogConfig } from './config.ts';
import type { Entry } from './entries.ts';
import { changelogFailure } from './failure.ts';
import { type Data, renderTemplate } from './render.ts';
import { strftime } from './strftime.ts';
import { TemplateError } from './template.ts';
import { compareVersions, parseVersion, type Version } from './version.ts';

/** The author of a change, if they are a user. */
export interface Author {
  readonly username: string;
  /** Not a member of the project. */
  readonly contributor: boolean;
}

export interface Release {
  /** As displayed. */
  readonly version: string;
  readonly date: Date;
  readonly config: ChangelogConfig;
  /** By value of the trailer. */
  readonly entries: ReadonlyMap<string, readonly Entry[]>;
  readonly authors: ReadonlyMap<string, Author>;
  readonly projectPath: string;
  /** The project's URL, the base of links. */
  readonly projectUrl: string;
}

/** The section of a release in Markdown, from its heading to one trailing line feed. @throws 422 */
export function releaseSection(release: Release): string {
  const { version, date, config } = release;
  // A heading is one line, whatever the date format produces.
  const formatted = strftime(date, config.dateFormat).replace(/\s+/g, ' ').trim();
  try {
    const text = renderTemplate(config.template, { categories: categoriesOf(release) });
    return `## ${version} (${formatted})\n\n${text.trim()}\n`;
  } catch (error) {
    throw error instanceof TemplateError ? changelogFailure(error.message) : error;
  }
}

/**
 * Inserts a section by its version, newer ones first.
 * @param file the current content, one character per byte
 * @returns undefined if the file has a section of that version
 */
export function withSection(file: string, version: Version, section: string): string | undefined {
  let before: { readonly at: number; readonly version: Version } | undefined;
  for (const { 1: text, index } of file.matchAll(HEADING)) {
    const found = versionIn(text!);
    if (found === undefined) continue;
    const order = compareVersions(found, version);
    if (order === 0) return undefined;
    // Before the newest of the older versions, wherever it is in an unsorted file.
    if (order < 0 && (before === undefined || compareVersions(found, before.version) > 0))
      before = { at: index, version: found };
  }
  const bytes = Buffer.from(section).toString('latin1');
  if (before !== undefined) return `${file.slice(0, before.at)}${bytes}\n${file.slice(before.at)}`;
  if (file.trim() === '') return bytes;
  const gap = file.endsWith('\n\n') ? '' : file.endsWith('\n') ? '\n' : '\n\n';
  return file + gap + bytes;
}

const HEADING = /^##[ \t]+(v?\d[0-9A-Za-z.+-]{0,254})/gm;

/** Punctuation may follow a version: `## 1.0.0-` is 1.0.0 with a dash. */
const versionIn = (text: string): Version | undefined =>
  parseVersion(text) ?? parseVersion(text.replace(/[.+-]+$/, ''));

function categoriesOf(release: Release): Data {
  const { categories } = release.config;
  const groups = new Map<string, Data[]>([...categories.values()].map((title) => [title, []]));
  for (const [value, entries] of release.entries) {
    const title = categories.get(value) ?? value;
    const group = groups.get(title) ?? [];
    groups.set(title, group);
    for (const entry of entries) group.push(entryOf(release, entry));
  }
  return [...groups]
    .filter(([, entries]) => entries.length > 0)
    .map(([title, entries]) => ({
      title,
      count: entries.length,
      single_change: entries.length === 1,
      entries,
    }));
}

function entryOf(release: Release, { title, commit, trailers, authorEmail }: Entry): Data {
  const author = release.authors.get(authorEmail);
  return {
    title,
    commit: {
      reference: `${release.projectPath}@${commit}`,
      web_url: `${release.projectUrl}/-/commit/${commit}`,
      trailers,
    },
    ...(author === undefined
      ? {}
      : {
          author: {
            reference: `@${author.username}`,
            contributor: author.contributor,
            credit: author.contributor,
          },
        }),
  };
}
