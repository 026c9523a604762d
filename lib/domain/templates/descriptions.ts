/** Templates of descriptions: Markdown files of a project's default branch. */
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../errors.ts';
import type { FileTemplate } from './files.ts';

export const DESCRIPTION_TEMPLATES = {
  issues: '.gitlab/issue_templates',
  merge_requests: '.gitlab/merge_request_templates',
} as const;

export type DescriptionTemplateKind = keyof typeof DESCRIPTION_TEMPLATES;

/** Files of the folder that are looked at. */
const MAX_FILES = 1000;
const ENDING = '.md';

/** Returns the names of the templates without their ending, in the order of a tree; none for callers who may not read code. */
export async function descriptionTemplates(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  kind: DescriptionTemplateKind,
): Promise<string[]> {
  if (!can(actor, access, 'read_code')) return [];
  const { codeOf, listDirectory } = await import('../repository/read.ts');
  const listing = { path: DESCRIPTION_TEMPLATES[kind], limit: MAX_FILES };
  try {
    const { entries } = await listDirectory(codeOf(deps, access), 'HEAD', listing);
    return entries
      .filter(({ type, name }) => type === 'blob' && name.endsWith(ENDING) && name !== ENDING)
      .map(({ name }) => name.slice(0, -ENDING.length));
  } catch (error) {
    // An empty repository, or no such folder.
    if (error instanceof DomainError && error.code === 'not-found') return [];
    throw error;
  }
}

/** @throws `404 Template Not Found`, 413 */
export async function descriptionTemplate(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  kind: DescriptionTemplateKind,
  name: string,
): Promise<FileTemplate> {
  const names = await descriptionTemplates(deps, actor, access, kind);
  const found = names.find((each) => each === name);
  if (found === undefined) throw notFound('Template');
  const { codeOf, readFile } = await import('../repository/read.ts');
  const path = `${DESCRIPTION_TEMPLATES[kind]}/${found}${ENDING}`;
  const { data } = await readFile(codeOf(deps, access), 'HEAD', path);
  return { name: found, content: new TextDecoder().decode(data) };
}
