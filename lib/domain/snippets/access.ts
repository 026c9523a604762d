/** Who may see and change snippets: personal ones by their visibility, those of projects by the stricter of both. */

import type { SnippetRecord } from '../../records/snippets.ts';
import { can, requireAbility } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import { isAuthor, maySeeSnippet } from '../access/visible-snippets.ts';
import { type Actor, isAdministrator, type Viewer } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { forbidden, notFound, recordNotFound, unauthorized } from '../errors.ts';

/** A snippet that the caller may see, and the project that it is in. */
export interface FoundSnippet {
  readonly snippet: SnippetRecord;
  /** Absent: it is personal. */
  readonly access?: ProjectAccess;
}

/**
 * Finds a personal snippet, or one of a project.
 * @param access of the project asked; undefined: personal snippets are
 * @throws `404 Snippet Not Found`, in a project `404 Not found`, also for one that is hidden from the actor
 */
export async function findSnippet(
  deps: Deps,
  actor: Viewer,
  access: ProjectAccess | undefined,
  id: number,
): Promise<FoundSnippet> {
  const snippet = await deps.store.snippets.get(id);
  const isThere = snippet !== undefined && snippet.projectId === (access?.project.id ?? null);
  if (!isThere || !maySeeSnippet(actor, snippet, access)) throw missing(access);
  return { snippet, ...(access && { access }) };
}

const missing = (access: ProjectAccess | undefined) =>
  access === undefined ? notFound('Snippet') : recordNotFound();

/** Whether the actor may change and delete it. */
export function mayChangeSnippet(actor: Actor, { snippet, access }: FoundSnippet): boolean {
  if (access === undefined) return isAdministrator(actor) || isAuthor(actor, snippet.author);
  return (
    can(actor, access, 'moderate_snippets') ||
    (can(actor, access, 'create_snippet') && isAuthor(actor, snippet.author))
  );
}

/** Others do not find personal snippets where they would change one. @throws 401, 404; in a project 403 */
export function requireChange(actor: Actor, found: FoundSnippet): void {
  if (mayChangeSnippet(actor, found)) return;
  if (actor.kind === 'anonymous') throw unauthorized();
  throw found.access === undefined ? notFound('Snippet') : forbidden();
}

/** @throws 401, 403 for external users, and in a project for those who may not create them there */
export function requireCreate(actor: Actor, access: ProjectAccess | undefined): void {
  if (access !== undefined) {
    requireAbility(actor, access, 'create_snippet');
    return;
  }
  if (actor.kind === 'anonymous') throw unauthorized();
  if (actor.user.external) throw forbidden();
}
