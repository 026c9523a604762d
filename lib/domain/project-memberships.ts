import type { AccessLevel, ProjectRecord } from '../store/records.ts';
import type { Deps } from './deps.ts';

/** What somebody is in a project by memberships alone: of itself, and of the groups above. */
export interface ProjectMemberships {
  readonly project: AccessLevel | 0;
  readonly group: AccessLevel | 0;
}

/** Of projects in groups, by their ids; one round trip. */
export async function membershipsIn(
  deps: Deps,
  userId: number,
  projects: readonly ProjectRecord[],
): Promise<Map<number, ProjectMemberships>> {
  const inGroups = projects.filter(({ namespaceKind }) => namespaceKind === 'group');
  if (inGroups.length === 0) return new Map();
  const groups = [...new Set(inGroups.flatMap(({ ancestorIds }) => ancestorIds))];
  const found = await deps.store.members.ofUserIn(userId, [
    ...inGroups.map(({ id }) => ({ kind: 'project', id }) as const),
    ...groups.map((id) => ({ kind: 'group', id }) as const),
  ]);
  const levels = found.map((member) => member?.accessLevel ?? 0);
  const byGroup = new Map(groups.map((id, i) => [id, levels[inGroups.length + i]!]));
  return new Map(
    inGroups.map(({ id, ancestorIds }, i) => {
      const group = Math.max(0, ...ancestorIds.map((above) => byGroup.get(above)!)) as AccessLevel | 0;
      return [id, { project: levels[i]!, group }];
    }),
  );
}
