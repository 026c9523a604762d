/** What somebody is told of their own membership, and of one that they offered. */
import type { MemberSource } from '../../records/members.ts';
import { LEVEL_NAMES } from '../access/levels.ts';
import type { Deps } from '../deps.ts';
import { type NotificationContent, named } from './audience.ts';
import type { DomainEvent, Notification } from './enqueue.ts';
import type { About } from './recipients.ts';
import {
  type GroupResource,
  groupResourceOf,
  isMuted,
  type ProjectResource,
  projectResourceOf,
} from './resources.ts';

type Told<K extends DomainEvent['kind']> = Notification & {
  readonly id: string;
  readonly happening: Extract<DomainEvent, { kind: K }>;
};

/** @returns undefined where it is otherwise by now */
export async function membershipContent(
  deps: Deps,
  { happening, baseUrl, id }: Told<'membership'>,
): Promise<NotificationContent | undefined> {
  const { source, userId, what } = happening;
  const [place, membership] = await Promise.all([
    placeOfSource(deps, source),
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
      ...signed(place, baseUrl),
      message: `membership_${source.kind}_${source.id}.${id}`,
    },
  };
}

/** What became of an invitation, for whoever made it. @returns undefined where nobody is to be told any more */
export async function invitationContent(
  deps: Deps,
  { happening, baseUrl, id }: Told<'invitation'>,
): Promise<NotificationContent | undefined> {
  const { source, email, inviterId, userId } = happening;
  const [place, user] = await Promise.all([
    placeOfSource(deps, source),
    userId === null ? undefined : deps.store.users.get(userId),
  ]);
  if (place === undefined || isMuted(place) || (userId !== null && user === undefined)) return undefined;
  const { fullPath } = place.project ?? place.groups[0]!;
  const where = `the ${source.kind} ${fullPath}`;
  return {
    audience: {
      stages: [named([inviterId])],
      relations: async (ids) => ids.map(() => new Set()),
      decide: ({ setting }) => (setting.level === 'disabled' ? undefined : 'asked'),
    },
    about: mayKnowOf(place),
    letter: {
      subject: `Invitation to ${where} was ${user === undefined ? 'declined' : 'accepted'}`,
      lines: [
        user === undefined
          ? `You invited ${email} to ${where}. They declined.`
          : `You invited ${email} to ${where}. ${user.name} (@${user.username}) accepted.`,
      ],
      namesAuthor: true,
      ...signed(place, baseUrl),
      message: `invitation_${source.kind}_${source.id}.${id}`,
    },
  };
}

const placeOfSource = (deps: Deps, { kind, id }: MemberSource) =>
  kind === 'project' ? projectResourceOf(deps, id) : groupResourceOf(deps, id);

const mayKnowOf = (place: ProjectResource | GroupResource): About =>
  place.project === undefined ? { place, ability: 'read_group' } : { place, ability: 'read_project' };

const signed = ({ project, groups }: ProjectResource | GroupResource, baseUrl: string) => ({
  url: `${baseUrl}/${project?.fullPath ?? `groups/${groups[0]!.fullPath}`}`,
  ...(project === undefined ? {} : { project }),
  facts: {},
});
