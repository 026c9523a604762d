/** What somebody is told of their own membership: that they have one, have another, or were refused one. */
import type { GroupRecord, ProjectRecord, UserRecord } from '../store/records.ts';
import type { Deps } from './deps.ts';
import { LEVEL_NAMES } from './member-rules.ts';
import { type Bulletin, named } from './notification-audience.ts';
import { groupPlaceOf, isMuted, placeOf } from './notification-place.ts';
import type { Happening, Notification } from './notification-promises.ts';
import { groupAccess, projectAccess } from './open.ts';
import { canSee, canSeeGroup } from './permissions.ts';
import { Surroundings } from './standing.ts';

type Told = Notification & {
  readonly id: string;
  readonly happening: Extract<Happening, { kind: 'membership' }>;
};

/** @returns undefined where it is otherwise by now */
export async function membershipBulletin(
  deps: Deps,
  { happening, baseUrl, id }: Told,
): Promise<Bulletin | undefined> {
  const { source, userId, what } = happening;
  const [place, membership] = await Promise.all([
    source.kind === 'project' ? placeOf(deps, source.id) : groupPlaceOf(deps, source.id),
    deps.store.members.get(source, userId),
  ]);
  if (place === undefined || isMuted(place)) return undefined;
  if ((membership === undefined) !== (what === 'denied')) return undefined;
  const subject = place.project ?? place.groups[0]!;
  const as = membership === undefined ? '' : ` as ${LEVEL_NAMES[membership.accessLevel]}`;
  const where = `the ${source.kind} ${subject.fullPath}`;
  const groups = place.groups.map((group) => ({ kind: 'group', id: group.id }) as const);
  return {
    audience: {
      stages: [named([userId])],
      relations: async (ids) => ids.map(() => new Set()),
      decide: ({ setting }) =>
        setting.level === 'disabled' ? undefined : what === 'denied' ? 'asked' : 'member',
    },
    scopes: source.kind === 'project' ? [source, ...groups] : groups,
    maySee: (user) => maySee(deps, user, subject),
    ...(what === 'denied' ? {} : { unsubscribe: { source } }),
    letter: {
      ...{
        granted: {
          subject: `Access to the ${source.kind} ${subject.fullPath} was granted`,
          lines: [`You are a member of ${where} from now on${as}.`],
        },
        changed: {
          subject: `Access to the ${source.kind} ${subject.fullPath} was changed`,
          lines: [`You are a member of ${where}${as} now.`],
        },
        denied: {
          subject: `Access to the ${source.kind} ${subject.fullPath} was denied`,
          lines: [`You asked for access to ${where}, and were refused.`],
        },
      }[what],
      url: `${baseUrl}/${source.kind === 'group' ? 'groups/' : ''}${subject.fullPath}`,
      message: `membership_${source.kind}_${source.id}.${id}`,
      ...(place.project === undefined ? {} : { project: place.project }),
      facts: {},
    },
  };
}

async function maySee(deps: Deps, user: UserRecord, subject: ProjectRecord | GroupRecord): Promise<boolean> {
  const viewer = { kind: 'user', user } as const;
  const surroundings = new Surroundings(deps);
  if ('repositoryId' in subject) {
    const access = await projectAccess(viewer, subject, surroundings);
    return access !== undefined && canSee(viewer, access);
  }
  const access = await groupAccess(viewer, subject, surroundings);
  return access !== undefined && canSeeGroup(viewer, access);
}
