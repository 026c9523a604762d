/** Links of a release: files that are stored elsewhere. */

import type { ReleaseLink, ReleaseRecord } from '../../records/releases.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { notFound, recordNotFound } from '../errors.ts';
import { added, type LinkInput, newLink, replaced } from './link-rules.ts';
import { changeLinks, getRelease, latestRelease } from './releases.ts';

/** @throws 404 for a tag without a release, and for a link of another one */
export async function getLink(
  deps: Deps,
  access: ProjectAccess,
  tag: string,
  id: number,
): Promise<{ readonly release: ReleaseRecord; readonly link: ReleaseLink }> {
  const release = await getRelease(deps, access, tag);
  return { release, link: linkOf(release.links, id) };
}

/** @throws 400 by field; 404; 403 for a protected tag */
export async function createLink(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  tag: string,
  input: LinkInput,
): Promise<ReleaseLink> {
  const link = await newLink(deps, input);
  const { result } = await changeLinks(deps, actor, access, tag, (links) => ({
    links: added(links, link),
    result: link,
  }));
  return result;
}

/** @throws 400 by field; 404; 403 for a protected tag */
export async function changeLink(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  tag: string,
  id: number,
  input: Partial<LinkInput>,
): Promise<ReleaseLink> {
  const { result } = await changeLinks(deps, actor, access, tag, (links) => {
    const link = linkOf(links, id);
    const next: ReleaseLink = {
      ...link,
      ...(input.name === undefined ? {} : { name: input.name.trim() }),
      ...(input.url === undefined ? {} : { url: input.url.trim() }),
      ...(input.filepath === undefined ? {} : { filepath: input.filepath?.trim() || null }),
      ...(input.type === undefined ? {} : { type: input.type }),
    };
    return { links: replaced(links, next), result: next };
  });
  return result;
}

/** @returns the link that was deleted. @throws 404; 403 for a protected tag */
export async function removeLink(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  tag: string,
  id: number,
): Promise<ReleaseLink> {
  const { result } = await changeLinks(deps, actor, access, tag, (links) => {
    const link = linkOf(links, id);
    return { links: links.filter((each) => each !== link), result: link };
  });
  return result;
}

/** The address of the file with a permanent path, as a header can name it. @param tag undefined: of the latest release. @throws `404 Not Found` */
export async function downloadUrl(
  deps: Deps,
  access: ProjectAccess,
  tag: string | undefined,
  filepath: string,
): Promise<string> {
  const { links } = await (tag === undefined ? latestRelease(deps, access) : getRelease(deps, access, tag));
  const link = links.find((each) => each.filepath === `/${filepath}`);
  if (link === undefined) throw notFound();
  return new URL(link.url).href;
}

function linkOf(links: readonly ReleaseLink[], id: number): ReleaseLink {
  const link = links.find((each) => each.id === id);
  if (link === undefined) throw recordNotFound();
  return link;
}
