/** What somebody is told of their own membership: that they have one, have another, or were refused one. */
import type { Deps } from './deps.ts';
import { LEVEL_NAMES } from './member-rules.ts';
import { type Bulletin, named } from './notification-audience.ts';
import { groupPlaceOf, isMuted, placeOf } from './notification-place.ts';
import type { Happening, Notification } from './notification-promises.ts';

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
  return {
    audience: {
      stages: [named([userId])],
      relations: async (ids) => ids.map(() => new Set()),
      decide: ({ setting }) =>
        setting.level === 'disabled' ? undefined : what === 'denied' ? 'asked' : 'member',
    },
    about:
      place.project === undefined ? { place, ability: 'read_group' } : { place, ability: 'read_project' },
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
