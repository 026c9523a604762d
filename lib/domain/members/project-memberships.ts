import type { AccessLevel } from '../../records/members.ts';
import type { NotificationLevel } from '../../records/notifications.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Deps } from '../deps.ts';

/**
 * A user's levels in a project by memberships alone, direct and inherited, and their notification levels for the project
 * and for the group that gives the highest level.
 */
export interface ProjectMemberships {
  readonly project: AccessLevel | 0;
  readonly group: AccessLevel | 0;
  readonly mail: { readonly project: NotificationLevel; readonly group: NotificationLevel };
}

/** Returns memberships by project ID, in one round trip. */
export async function membershipsIn(
  deps: Deps,
  userId: number,
  projects: readonly ProjectRecord[],
): Promise<Map<number, ProjectMemberships>> {
  const groups = [...new Set(projects.flatMap(({ ancestorIds }) => ancestorIds))];
  const sources = [
    ...projects.map(({ id }) => ({ kind: 'project', id }) as const),
    ...groups.map((id) => ({ kind: 'group', id }) as const),
  ];
  if (sources.length === 0) return new Map();
  const [found, chosen] = await Promise.all([
    deps.store.members.ofUserIn(userId, sources),
    deps.store.notificationSettings.getMany([userId], sources),
  ]);
  const held = sources.map((_, i) => ({
    level: found[i]?.accessLevel ?? (0 as const),
    mail: chosen.get(userId)![i]!.level ?? ('global' as const),
  }));
  const byGroup = new Map(groups.map((id, i) => [id, held[projects.length + i]!]));
  return new Map(
    projects.map(({ id, ancestorIds }, i) => {
      const project = held[i]!;
      // Of groups with the same level, the nearest ancestor.
      const [first = NONE, ...others] = ancestorIds.map((above) => byGroup.get(above)!).reverse();
      const group = others.reduce((best, each) => (each.level > best.level ? each : best), first);
      const mail = { project: project.mail, group: group.mail };
      return [id, { project: project.level, group: group.level, mail }];
    }),
  );
}

const NONE = { level: 0, mail: 'global' } as const;
