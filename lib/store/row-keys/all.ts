/** All kinds of rows that the table has: a line for each file of this folder. */
import { rowKinds as accessRequests } from './access-requests.ts';
import { rowKinds as approvals } from './approvals.ts';
import { rowKinds as auditEvents } from './audit-events.ts';
import { rowKinds as avatars } from './avatars.ts';
import { rowKinds as awardEmoji } from './award-emoji.ts';
import { rowKinds as billableMembers } from './billable-members.ts';
import { rowKinds as counters } from './counters.ts';
import { rowKinds as customAttributes } from './custom-attributes.ts';
import { rowKinds as emails } from './emails.ts';
import { rowKinds as epics } from './epics.ts';
import { rowKinds as events } from './events.ts';
import { rowKinds as forks } from './forks.ts';
import { rowKinds as git } from './git.ts';
import { rowKinds as groups } from './groups.ts';
import { rowKinds as invitations } from './invitations.ts';
import { rowKinds as issues } from './issues.ts';
import { rowKinds as iterations } from './iterations.ts';
import { rowKinds as keys } from './keys.ts';
import { rowKinds as labels } from './labels.ts';
import { rowKinds as maintenance } from './maintenance.ts';
import { rowKinds as members } from './members.ts';
import { rowKinds as mergeRequests } from './merge-requests.ts';
import { rowKinds as milestones } from './milestones.ts';
import { rowKinds as names } from './names.ts';
import { rowKinds as notes } from './notes.ts';
import { rowKinds as notifications } from './notifications.ts';
import { rowKinds as outbox } from './outbox.ts';
import { rowKinds as pipelines } from './pipelines.ts';
import { rowKinds as projects } from './projects.ts';
import { rowKinds as rateLimits } from './rate-limits.ts';
import { rowKinds as refs } from './refs.ts';
import { rowKinds as repository } from './repository.ts';
import { rowKinds as runners } from './runners.ts';
import { rowKinds as scim } from './scim.ts';
import { rowKinds as search } from './search.ts';
import { rowKinds as secrets } from './secrets.ts';
import { rowKinds as settings } from './settings.ts';
import { rowKinds as stars } from './stars.ts';
import { rowKinds as statistics } from './statistics.ts';
import { rowKinds as todos } from './todos.ts';
import { rowKinds as tokens } from './tokens.ts';
import { rowKinds as topics } from './topics.ts';
import { rowKinds as users } from './users.ts';

export const allRowKinds = [
  ...accessRequests,
  ...approvals,
  ...auditEvents,
  ...avatars,
  ...awardEmoji,
  ...billableMembers,
  ...counters,
  ...customAttributes,
  ...emails,
  ...epics,
  ...events,
  ...forks,
  ...git,
  ...groups,
  ...invitations,
  ...issues,
  ...iterations,
  ...keys,
  ...labels,
  ...maintenance,
  ...members,
  ...mergeRequests,
  ...milestones,
  ...names,
  ...notes,
  ...notifications,
  ...outbox,
  ...pipelines,
  ...projects,
  ...rateLimits,
  ...refs,
  ...repository,
  ...runners,
  ...scim,
  ...search,
  ...secrets,
  ...settings,
  ...stars,
  ...statistics,
  ...todos,
  ...tokens,
  ...topics,
  ...users,
] as const;

export type RowKindName = (typeof allRowKinds)[number]['name'];
