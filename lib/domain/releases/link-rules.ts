/** What the links of a release may be. */

import type { LinkType, ReleaseLink } from '../../records/releases.ts';
import type { Deps } from '../deps.ts';
import { type FieldProblems, invalid } from '../errors.ts';

/** Maximum number of links of a release, and of bytes of all of them: they are in its record. */
const MAX_LINKS = 200;
const MAX_BYTES = 200 * 1024;
/** Characters. */
const MAX_NAME = 255;
const MAX_URL = 2048;
const MAX_FILEPATH = 128;

export interface LinkInput {
  readonly name: string;
  readonly url: string;
  readonly filepath?: string | null | undefined;
  readonly type?: LinkType | undefined;
}

/** The links of a new release, the newest first. @throws 400 by field */
export async function newLinks(deps: Deps, inputs: readonly LinkInput[]): Promise<readonly ReleaseLink[]> {
  let links: readonly ReleaseLink[] = [];
  for (const input of inputs) links = added(links, await newLink(deps, input));
  return links;
}

export const newLink = async (deps: Deps, input: LinkInput): Promise<ReleaseLink> => ({
  id: await deps.store.releases.nextLinkId(),
  name: input.name.trim(),
  url: input.url.trim(),
  filepath: input.filepath?.trim() || null,
  type: input.type ?? 'other',
});

/** @throws 400 by field */
export function added(links: readonly ReleaseLink[], link: ReleaseLink): readonly ReleaseLink[] {
  requireValid(links, link);
  return [link, ...links];
}

/** @throws 400 by field */
export function replaced(links: readonly ReleaseLink[], link: ReleaseLink): readonly ReleaseLink[] {
  requireValid(
    links.filter(({ id }) => id !== link.id),
    link,
  );
  return links.map((each) => (each.id === link.id ? link : each));
}

function requireValid(others: readonly ReleaseLink[], link: ReleaseLink): void {
  const { name, url, filepath } = link;
  const taken = (field: 'name' | 'url' | 'filepath') =>
    others.some((other) => other[field] === link[field]) ? ['has already been taken'] : [];
  const tooLong = (text: string, most: number) =>
    [...text].length > most ? [`is too long (maximum is ${most} characters)`] : [];
  const problems: FieldProblems = {
    name: [...(name === '' ? ["can't be blank"] : []), ...tooLong(name, MAX_NAME), ...taken('name')],
    url: [
      ...(url === '' ? ["can't be blank"] : isAllowed(url) ? [] : [NO_SCHEME]),
      ...tooLong(url, MAX_URL),
      ...taken('url'),
    ],
    filepath:
      filepath === null
        ? []
        : [
            ...(FILEPATH.test(filepath) && !filepath.includes('//') ? [] : ['is in an invalid format']),
            ...tooLong(filepath, MAX_FILEPATH),
            ...taken('filepath'),
          ],
    base: [
      ...(others.length >= MAX_LINKS ? [`there are ${MAX_LINKS} links already`] : []),
      ...(Buffer.byteLength(JSON.stringify([link, ...others])) > MAX_BYTES ? ['the links are too long'] : []),
    ],
  };
  const found = Object.entries(problems).filter(([, texts]) => texts.length > 0);
  if (found.length > 0) throw invalid(Object.fromEntries(found));
}

const FILEPATH = /^\/[-.\w/]*[\da-zA-Z]$/;
const NO_SCHEME = 'is blocked: Only allowed schemes are http, https, ftp';

function isAllowed(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && /^(https?|ftp):$/.test(parsed.protocol) && parsed.hostname !== '';
}
