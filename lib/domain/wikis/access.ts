import type { RepositoryOwner } from '../../records/repository-owner.ts';
import { can, canInGroup } from '../access/permissions.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import type { Actor, Viewer } from '../actor.ts';
import { forbidden, unauthorized } from '../errors.ts';

/** The wiki of a project or group that the actor may see. */
export type WikiOf = { readonly project: ProjectAccess } | { readonly group: GroupAccess };

export type WikiAbility = 'read_wiki' | 'write_wiki' | 'delete_wiki_page';

export const ownerOf = (wiki: WikiOf): RepositoryOwner =>
  'project' in wiki
    ? { kind: 'project-wiki', id: wiki.project.project.id }
    : { kind: 'group-wiki', id: wiki.group.group.id };

export const mayInWiki = (actor: Viewer, wiki: WikiOf, ability: WikiAbility): boolean =>
  'project' in wiki ? can(actor, wiki.project, ability) : canInGroup(actor, wiki.group, ability);

/** @throws 401 for an anonymous caller who lacks the ability, 403 for others */
export function requireInWiki(actor: Actor, wiki: WikiOf, ability: WikiAbility): void {
  if (mayInWiki(actor, wiki, ability)) return;
  throw actor.kind === 'anonymous' ? unauthorized() : forbidden();
}
