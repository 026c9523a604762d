import type { AccessLevel, MemberSource } from '../../records/members.ts';
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

/**
 * Returns memberships by project ID, in one round trip, and a second where notification levels were chosen. Those of several
 * projects come from the index as long as they are few: a list shows them, and decides nothing by them.
 */
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
  const [levels, mails] =
    projects.length === 1
      ? await Promise.all([levelsIn(deps, userId, sources), mailLevelsIn(deps, userId, sources)])
      : await Promise.all([listedLevels(deps, userId, sources), listedMailLevels(deps, userId, sources)]);
  const held = sources.map((_, i) => ({
    level: levels[i] ?? (0 as const),
    mail: mails[i] ?? ('global' as const),
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

const levelsIn = async (
  { store }: Pick<Deps, 'store'>,
  userId: number,
  sources: readonly MemberSource[],
  reads: { consistent?: boolean } = {},
) => (await store.members.ofUserIn(userId, sources, reads)).map((member) => member?.accessLevel);

const mailLevelsIn = async (
  { store }: Pick<Deps, 'store'>,
  userId: number,
  sources: readonly MemberSource[],
  reads: { consistent?: boolean } = {},
) =>
  (await store.notificationSettings.getMany([userId], sources, reads)).get(userId)!.map(({ level }) => level);

async function listedLevels({ store }: Deps, userId: number, sources: readonly MemberSource[]) {
  const few = await ofKindsIn(sources, (kind) => store.members.fewOfUser(userId, kind));
  if (sources.some(({ kind }) => few[kind] === undefined))
    return levelsIn({ store }, userId, sources, { consistent: false });
  return sources.map(({ kind, id }) => few[kind]!.get(id));
}

async function listedMailLevels({ store }: Deps, userId: number, sources: readonly MemberSource[]) {
  const few = await ofKindsIn(sources, (kind) => store.notificationSettings.fewOfUser(userId, kind));
  const chosen = sources.filter(({ kind, id }) => few[kind]?.has(id) !== false);
  if (chosen.length === 0) return [];
  const levels = await mailLevelsIn({ store }, userId, chosen, { consistent: false });
  const byKey = new Map(chosen.map(({ kind, id }, i) => [`${kind} ${id}`, levels[i]]));
  return sources.map(({ kind, id }) => byKey.get(`${kind} ${id}`));
}

async function ofKindsIn<T>(
  sources: readonly MemberSource[],
  read: (kind: MemberSource['kind']) => Promise<T | undefined>,
): Promise<Readonly<Record<MemberSource['kind'], T | undefined>>> {
  const [project, group] = await Promise.all(
    (['project', 'group'] as const).map((kind) =>
      sources.some((source) => source.kind === kind) ? read(kind) : undefined,
    ),
  );
  return { project, group };
}
