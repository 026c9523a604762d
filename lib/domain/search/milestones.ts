import type { Container } from '../../records/labels.ts';
import type { MilestoneRecord } from '../../records/milestones.ts';
import type { Page } from '../../store/table/paging.ts';
import { can } from '../access/permissions.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { searchedProjects } from './projects.ts';
import { demandTerm, type Searched } from './search.ts';

/** Milestones that a search finds. */
const MAX_FOUND = 1000;

/**
 * Searches milestones by a part of their title or description: those of the project; those of the group and of the newest
 * projects below it; without either, those of the newest projects that the actor is a member of.
 */
export async function searchMilestones(
  deps: Deps,
  actor: Actor,
  { term, direction, page, perPage }: Searched,
  within?: GroupAccess | ProjectAccess,
): Promise<Page<MilestoneRecord>> {
  demandTerm(term);
  const text = term.trim().toLowerCase();
  const { containers, complete } = await searchedIn(deps, actor, within);
  if (containers.length === 0) return { items: [], total: 0, more: false };
  const matches = ({ title, description }: MilestoneRecord) =>
    title.toLowerCase().includes(text) || (description?.toLowerCase().includes(text) ?? false);
  const all = { page: 1, perPage: MAX_FOUND };
  const found = await deps.store.milestones.page(containers, ['active', 'closed'], all, matches);
  const sign = direction === 'asc' ? 1 : -1;
  const sorted = found.items.toSorted((a, b) => sign * (a.id - b.id));
  const from = (page - 1) * perPage;
  const whole = complete && !found.more && found.truncated !== true;
  return {
    items: sorted.slice(from, from + perPage),
    total: whole ? sorted.length : undefined,
    more: sorted.length > from + perPage,
    ...(whole ? {} : { truncated: true }),
  };
}

async function searchedIn(
  deps: Deps,
  actor: Actor,
  within: GroupAccess | ProjectAccess | undefined,
): Promise<{ readonly containers: readonly Container[]; readonly complete: boolean }> {
  const { projects, complete } = await searchedProjects(deps, actor, within);
  const ofGroup: Container[] =
    within !== undefined && 'group' in within ? [{ kind: 'group', id: within.group.id }] : [];
  const ofProjects = projects
    .filter((access) => can(actor, access, 'read_milestone'))
    .map(({ project }): Container => ({ kind: 'project', id: project.id }));
  return { containers: [...ofGroup, ...ofProjects], complete };
}
