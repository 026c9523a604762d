/** Detects the licence of a project from its licence file, by titles and characteristic phrases. */
import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';

export interface License {
  /** Lower-case SPDX identifier; `other` for a text that is none of these. */
  readonly key: string;
  readonly name: string;
  readonly nickname: string | null;
}

/** The detected licence, as stored. */
export interface FoundLicense {
  readonly path: string;
  readonly key: string;
}

/** File names, in order of preference. */
const FILES: readonly RegExp[] = [
  /^(un)?licen[sc]e$/i,
  /^(un)?licen[sc]e\.(md|markdown|txt|rst|html)$/i,
  /^copying(\.(md|markdown|txt))?$/i,
  /^(un)?licen[sc]e[-.][\w.-]+$/i,
];
const MAX_BYTES = 128 * 1024;
const MAX_ENTRIES = 10_000;

/** @returns null for a project without a licence file. @throws ObjectMissing, CorruptData */
export async function findLicense(git: GitRepository, commit: Oid): Promise<FoundLicense | null> {
  const root = await git.listTree(commit, { limit: MAX_ENTRIES });
  const files = (root?.entries ?? []).filter(({ type }) => type === 'blob');
  const file = FILES.flatMap((name) => files.find(({ path }) => name.test(path)) ?? [])[0];
  if (file === undefined) return null;
  const size = (await git.blobHeader(file.id))?.size ?? 0;
  const bytes = size <= MAX_BYTES ? await git.readBlob(file.id) : undefined;
  const text = bytes === undefined ? '' : Buffer.from(bytes).toString('utf8');
  return { path: file.path, key: licenseOf(text) };
}

/** Lower case, letters and digits only, a space between words. */
const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, ' ');

/** Number of characters in which a title is searched: a heading or copyright line may precede it. */
const HEAD = 400;

/** The key of a licence by its text; `other` if it is unknown. */
export function licenseOf(text: string): string {
  const words = plain(text);
  const head = words.slice(0, HEAD);
  // A licence may mention others: the first title counts.
  const titled = KNOWN.map(({ key, title }) => ({ key, at: title === undefined ? -1 : head.indexOf(title) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at);
  const found =
    titled[0] ??
    KNOWN.find(
      ({ holds, lacks = [] }) =>
        holds?.every((phrase) => words.includes(phrase)) === true &&
        !lacks.some((phrase) => words.includes(phrase)),
    );
  return found?.key ?? 'other';
}

export function licenseNamed(key: string): License {
  const { name, nickname } = KNOWN.find((known) => known.key === key) ?? { name: 'Other', nickname: null };
  return { key, name, nickname: nickname ?? null };
}

interface Known {
  readonly key: string;
  readonly name: string;
  readonly nickname?: string;
  /** Contained in its first lines, in the form of {@link plain}. */
  readonly title?: string;
  readonly holds?: readonly string[];
  readonly lacks?: readonly string[];
}

const BSD = 'redistribution and use in source and binary forms with or without modification are permitted';
const ENDORSE = 'endorse or promote products derived from this software';
const ISC = 'permission to use copy modify and or distribute this software for any purpose';
const NOTICE = 'the above copyright notice and this permission notice';

const KNOWN: readonly Known[] = [
  {
    key: 'agpl-3.0',
    name: 'GNU Affero General Public License v3.0',
    nickname: 'GNU AGPLv3',
    title: 'gnu affero general public license version 3',
  },
  {
    key: 'lgpl-3.0',
    name: 'GNU Lesser General Public License v3.0',
    nickname: 'GNU LGPLv3',
    title: 'gnu lesser general public license version 3',
  },
  {
    key: 'lgpl-2.1',
    name: 'GNU Lesser General Public License v2.1',
    nickname: 'GNU LGPLv2.1',
    title: 'gnu lesser general public license version 2 1',
  },
  {
    key: 'gpl-3.0',
    name: 'GNU General Public License v3.0',
    nickname: 'GNU GPLv3',
    title: 'gnu general public license version 3',
  },
  {
    key: 'gpl-2.0',
    name: 'GNU General Public License v2.0',
    nickname: 'GNU GPLv2',
    title: 'gnu general public license version 2',
  },
  { key: 'apache-2.0', name: 'Apache License 2.0', title: 'apache license version 2 0' },
  { key: 'mpl-2.0', name: 'Mozilla Public License 2.0', title: 'mozilla public license version 2 0' },
  { key: 'epl-2.0', name: 'Eclipse Public License 2.0', title: 'eclipse public license v 2 0' },
  { key: 'epl-1.0', name: 'Eclipse Public License 1.0', title: 'eclipse public license v 1 0' },
  { key: 'bsl-1.0', name: 'Boost Software License 1.0', title: 'boost software license version 1 0' },
  { key: 'cc0-1.0', name: 'Creative Commons Zero v1.0 Universal', title: 'cc0 1 0 universal' },
  { key: 'artistic-2.0', name: 'Artistic License 2.0', title: 'artistic license 2 0' },
  {
    key: 'wtfpl',
    name: 'Do What The F*ck You Want To Public License',
    title: 'public license version 2 december 2004',
  },
  {
    key: 'unlicense',
    name: 'The Unlicense',
    holds: ['this is free and unencumbered software released into the public domain'],
  },
  {
    key: 'bsd-3-clause',
    name: 'BSD 3-Clause "New" or "Revised" License',
    holds: [BSD, ENDORSE],
    lacks: ['all advertising materials mentioning features'],
  },
  {
    key: 'bsd-2-clause',
    name: 'BSD 2-Clause "Simplified" License',
    holds: [BSD],
    lacks: [ENDORSE, 'all advertising materials mentioning features'],
  },
  { key: 'isc', name: 'ISC License', holds: [ISC, `${NOTICE} appear in all copies`] },
  { key: '0bsd', name: 'BSD Zero Clause License', holds: [ISC], lacks: [NOTICE] },
  {
    key: 'mit',
    name: 'MIT License',
    holds: ['permission is hereby granted free of charge to any person obtaining a copy', NOTICE],
    lacks: ['redistribution and use in source and binary forms', 'shall not be used in advertising'],
  },
  {
    key: 'zlib',
    name: 'zlib License',
    holds: [
      'this software is provided as is without any express or implied warranty',
      'must not be misrepresented',
    ],
  },
];
