/** Which integrations count: those of a project or group itself, of the nearest group above, or of the instance. */
import type { IntegrationOwner, IntegrationRecord } from '../../records/integrations.ts';
import type { Deps } from '../deps.ts';

/** An integration, and whether it is one of a group above or of the instance. */
export interface Effective {
  readonly integration: IntegrationRecord;
  readonly inherited: boolean;
}

/** What counts for the owner of the first list, by slug: its own, or of the nearest list above that has it. */
export function effectiveOf(lists: readonly (readonly IntegrationRecord[])[]): Effective[] {
  const [own = [], ...above] = lists;
  const slugs = [...new Set(lists.flat().map(({ slug }) => slug))].sort();
  return slugs.flatMap((slug): Effective[] => {
    const mine = own.find((one) => one.slug === slug);
    if (mine !== undefined && !mine.inherits) return [{ integration: mine, inherited: false }];
    for (const list of above) {
      const theirs = list.find((one) => one.slug === slug);
      if (theirs === undefined || theirs.inherits) continue;
      if (theirs.active) return [{ integration: theirs, inherited: true }];
      break;
    }
    return mine === undefined ? [] : [{ integration: { ...mine, active: false }, inherited: true }];
  });
}

/** Whose integrations a project or group inherits, the nearest first. @param groupIds those above, the nearest last */
export const ownersAbove = (groupIds: readonly number[]): IntegrationOwner[] => [
  ...groupIds.toReversed().map((id) => ({ kind: 'group', id }) as const),
  { kind: 'system' },
];

/** The active integrations of a project, its own and inherited ones. @param groupIds those above, the nearest last */
export async function integrationsAround(
  { store }: Deps,
  projectId: number,
  groupIds: readonly number[],
): Promise<IntegrationRecord[]> {
  const owners: IntegrationOwner[] = [{ kind: 'project', id: projectId }, ...ownersAbove(groupIds)];
  const lists = await Promise.all(owners.map((owner) => store.integrations.of(owner)));
  return effectiveOf(lists)
    .map(({ integration }) => integration)
    .filter(({ active }) => active);
}
