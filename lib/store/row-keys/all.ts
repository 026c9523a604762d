/** All kinds of rows that the table has: a line for each file of this folder. */
import { rowKinds as accessRequests } from './access-requests.ts';
import { rowKinds as alerts } from './alerts.ts';
import { rowKinds as approvals } from './approvals.ts';
import { rowKinds as artifacts } from './artifacts.ts';
import { rowKinds as auditEvents } from './audit-events.ts';
import { rowKinds as avatars } from './avatars.ts';
import { rowKinds as awardEmoji } from './award-emoji.ts';
import { rowKinds as billableMembers } from './billable-members.ts';
import { rowKinds as ciVariables } from './ci-variables.ts';
import { rowKinds as counters } from './counters.ts';
import { rowKinds as customAttributes } from './custom-attributes.ts';
import { rowKinds as emails } from './emails.ts';
import { rowKinds as environments } from './environments.ts';
import { rowKinds as epics } from './epics.ts';
import { rowKinds as errorTracking } from './error-tracking.ts';
import { rowKinds as events } from './events.ts';
import { rowKinds as forks } from './forks.ts';
import { rowKinds as git } from './git.ts';
import { rowKinds as groups } from './groups.ts';
import { rowKinds as hooks } from './hooks.ts';
import { rowKinds as integrations } from './integrations.ts';
import { rowKinds as invitations } from './invitations.ts';
import { rowKinds as issues } from './issues.ts';
import { rowKinds as iterations } from './iterations.ts';
import { rowKinds as jobTraces } from './job-traces.ts';
import { rowKinds as jobs } from './jobs.ts';
import { rowKinds as keys } from './keys.ts';
import { rowKinds as labels } from './labels.ts';
import { rowKinds as lfs } from './lfs.ts';
import { rowKinds as maintenance } from './maintenance.ts';
import { rowKinds as members } from './members.ts';
import { rowKinds as mergeRequests } from './merge-requests.ts';
import { rowKinds as milestones } from './milestones.ts';
import { rowKinds as names } from './names.ts';
import { rowKinds as notes } from './notes.ts';
import { rowKinds as notifications } from './notifications.ts';
import { rowKinds as outbox } from './outbox.ts';
import { rowKinds as packages } from './packages.ts';
import { rowKinds as pageEnds } from './page-ends.ts';
import { rowKinds as pipelineSchedules } from './pipeline-schedules.ts';
import { rowKinds as pipelines } from './pipelines.ts';
import { rowKinds as projects } from './projects.ts';
import { rowKinds as rateLimits } from './rate-limits.ts';
import { rowKinds as refs } from './refs.ts';
import { rowKinds as releases } from './releases.ts';
import { rowKinds as repository } from './repository.ts';
import { rowKinds as runners } from './runners.ts';
import { rowKinds as scim } from './scim.ts';
import { rowKinds as search } from './search.ts';
import { rowKinds as secrets } from './secrets.ts';
import { rowKinds as settings } from './settings.ts';
import { rowKinds as snippets } from './snippets.ts';
import { rowKinds as stars } from './stars.ts';
import { rowKinds as statistics } from './statistics.ts';
import { rowKinds as storageMoves } from './storage-moves.ts';
import { rowKinds as todos } from './todos.ts';
import { rowKinds as tokens } from './tokens.ts';
import { rowKinds as topics } from './topics.ts';
import { rowKinds as triggers } from './triggers.ts';
import { rowKinds as users } from './users.ts';

export const allRowKinds = [
  ...accessRequests,
  ...alerts,
  ...approvals,
  ...artifacts,
  ...auditEvents,
  ...avatars,
  ...awardEmoji,
  ...billableMembers,
  ...ciVariables,
  ...counters,
  ...customAttributes,
  ...emails,
  ...environments,
  ...epics,
  ...errorTracking,
  ...events,
  ...forks,
  ...git,
  ...groups,
  ...hooks,
  ...integrations,
  ...invitations,
  ...issues,
  ...iterations,
  ...jobs,
  ...jobTraces,
  ...keys,
  ...labels,
  ...lfs,
  ...maintenance,
  ...members,
  ...mergeRequests,
  ...milestones,
  ...names,
  ...notes,
  ...notifications,
  ...outbox,
  ...pageEnds,
  ...pipelineSchedules,
  ...packages,
  ...pipelines,
  ...projects,
  ...rateLimits,
  ...refs,
  ...releases,
  ...repository,
  ...runners,
  ...scim,
  ...search,
  ...secrets,
  ...settings,
  ...snippets,
  ...stars,
  ...storageMoves,
  ...statistics,
  ...todos,
  ...tokens,
  ...topics,
  ...triggers,
  ...users,
] as const;

export type RowKindName = (typeof allRowKinds)[number]['name'];
