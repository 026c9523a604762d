/** Content of mails about a user's own membership, and about the answer to an invitation. */
import type { MemberSource } from '../../records/members.ts';
import { LEVEL_NAMES } from '../access/levels.ts';
import type { Deps } from '../deps.ts';
import { fixedStage, type NotificationContent } from './audience.ts';
import type { EventOf } from './content-parts.ts';
import type { About } from './recipients.ts';
import {
  type GroupResource,
  groupResourceOf,
  isMuted,
  type ProjectResource,
  projectResourceOf,
} from './resources.ts';

/** @returns undefined when the membership has changed since, or notifications are turned off */
export async function membershipContent(
  deps: Deps,
  { happening, baseUrl, id }: EventOf<'membership'>,
): Promise<NotificationContent | undefined> {
  const { source, userId, what } = happening;
  const [resource, membership] = await Promise.all([
    resourceOfSource(deps, source),
    deps.store.members.get(source, userId),
  ]);
  if (resource === undefined || isMuted(resource)) return undefined;
  if ((membership === undefined) !== (what === 'denied')) return undefined;
  const subject = resource.project ?? resource.groups[0]!;
  const role = membership === undefined ? '' : ` as ${LEVEL_NAMES[membership.accessLevel]}`;
  const where = `the ${source.kind} ${subject.fullPath}`;
  return {
    audience: {
      stages: [fixedStage([userId])],
      relations: async (ids) => ids.map(() => new Set()),
      decide: ({ setting }) =>
        setting.level === 'disabled' ? undefined : what === 'denied' ? 'asked' : 'member',
    },
    about:
      resource.project === undefined
        ? { resource, ability: 'read_group' }
        : { resource, ability: 'read_project' },
    ...(what === 'denied' ? {} : { unsubscribe: { source } }),
    mail: {
      ...{
        granted: {
          subject: `Access to the ${source.kind} ${subject.fullPath} was granted`,
          lines: [`You were added to ${where}${role}.`],
        },
        changed: {
          subject: `Access to the ${source.kind} ${subject.fullPath} was changed`,
          lines: [`You are now a member of ${where}${role}.`],
        },
        denied: {
          subject: `Access to the ${source.kind} ${subject.fullPath} was denied`,
          lines: [`Your request for access to ${where} was denied.`],
        },
      }[what],
      ...mailContext(resource, baseUrl),
      message: `membership_${source.kind}_${source.id}.${id}`,
    },
  };
}

/** The answer to an invitation, for the inviter. @returns undefined when no mail is to be sent any more */
export async function invitationContent(
  deps: Deps,
  { happening, baseUrl, id }: EventOf<'invitation'>,
): Promise<NotificationContent | undefined> {
  const { source, email, inviterId, userId } = happening;
  const [resource, user] = await Promise.all([
    resourceOfSource(deps, source),
    userId === null ? undefined : deps.store.users.get(userId),
  ]);
  if (resource === undefined || isMuted(resource) || (userId !== null && user === undefined))
    return undefined;
  const { fullPath } = resource.project ?? resource.groups[0]!;
  const where = `the ${source.kind} ${fullPath}`;
  return {
    audience: {
      stages: [fixedStage([inviterId])],
      relations: async (ids) => ids.map(() => new Set()),
      decide: ({ setting }) => (setting.level === 'disabled' ? undefined : 'asked'),
    },
    about: aboutOf(resource),
    mail: {
      subject: `Invitation to ${where} was ${user === undefined ? 'declined' : 'accepted'}`,
      lines: [
        user === undefined
          ? `You invited ${email} to ${where}. They declined.`
          : `You invited ${email} to ${where}. ${user.name} (@${user.username}) accepted.`,
      ],
      namesAuthor: true,
      ...mailContext(resource, baseUrl),
      message: `invitation_${source.kind}_${source.id}.${id}`,
    },
  };
}

const resourceOfSource = (deps: Deps, { kind, id }: MemberSource) =>
  kind === 'project' ? projectResourceOf(deps, id) : groupResourceOf(deps, id);

const aboutOf = (resource: ProjectResource | GroupResource): About =>
  resource.project === undefined
    ? { resource, ability: 'read_group' }
    : { resource, ability: 'read_project' };

const mailContext = ({ project, groups }: ProjectResource | GroupResource, baseUrl: string) => ({
  url: `${baseUrl}/${project?.fullPath ?? `groups/${groups[0]!.fullPath}`}`,
  ...(project === undefined ? {} : { project }),
  facts: {},
});
