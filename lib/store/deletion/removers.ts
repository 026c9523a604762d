import { remover as accessRequests } from '../access-requests/remover.ts';
import { remover as alerts } from '../alerts/remover.ts';
import { remover as approvals } from '../approvals/remover.ts';
import { remover as artifacts } from '../artifacts/remover.ts';
import { remover as awardEmoji } from '../award-emoji/remover.ts';
import { remover as ciVariables } from '../ci-variables/remover.ts';
import { remover as customAttributes } from '../custom-attributes/remover.ts';
import { remover as emails } from '../emails/remover.ts';
import { remover as environments } from '../environments/remover.ts';
import { remover as epics } from '../epics/remover.ts';
import { remover as errorTracking } from '../error-tracking/remover.ts';
import { remover as events } from '../events/remover.ts';
import { remover as forks } from '../forks/remover.ts';
import { remover as groups } from '../groups/remover.ts';
import { remover as hooks } from '../hooks/remover.ts';
import { remover as integrations } from '../integrations/remover.ts';
import { remover as invitations } from '../invitations/remover.ts';
import { remover as issues } from '../issues/remover.ts';
import { remover as iterations } from '../iterations/remover.ts';
import { remover as jobTraces } from '../job-traces/remover.ts';
import { remover as jobs } from '../jobs/remover.ts';
import { remover as keys } from '../keys/remover.ts';
import { remover as labels } from '../labels/remover.ts';
import { remover as lfs } from '../lfs/remover.ts';
import { remover as members } from '../members/remover.ts';
import { remover as mergeRequests } from '../merge-requests/remover.ts';
import { remover as milestones } from '../milestones/remover.ts';
import { remover as notes } from '../notes/remover.ts';
import { remover as notifications } from '../notifications/remover.ts';
import { remover as packages } from '../packages/remover.ts';
import { remover as pipelineSchedules } from '../pipeline-schedules/remover.ts';
import { remover as pipelines } from '../pipelines/remover.ts';
import { remover as placement } from '../placement/remover.ts';
import { remover as projectRelations } from '../project-relations/remover.ts';
import { remover as projects } from '../projects/remover.ts';
import { remover as rateLimits } from '../rate-limits/remover.ts';
import { remover as refs } from '../refs/remover.ts';
import { remover as releases } from '../releases/remover.ts';
import { remover as repository } from '../repository/remover.ts';
import { remover as runners } from '../runners/remover.ts';
import { remover as scim } from '../scim/remover.ts';
import { remover as search } from '../search/remover.ts';
import { remover as snippets } from '../snippets/remover.ts';
import { remover as stars } from '../stars/remover.ts';
import { remover as statistics } from '../statistics/remover.ts';
import { remover as storageMoves } from '../storage-moves/remover.ts';
import type { Store } from '../store.ts';
import { remover as texts } from '../texts/remover.ts';
import { remover as todos } from '../todos/remover.ts';
import { remover as tokens } from '../tokens/remover.ts';
import { remover as topics } from '../topics/remover.ts';
import { remover as triggers } from '../triggers/remover.ts';
import { remover as uploads } from '../uploads/remover.ts';
import { remover as users } from '../users/remover.ts';
import { remover as wikis } from '../wikis/remover.ts';
import type { Remover } from './remover.ts';

/** The removers of all subjects in the order in which they run; one line per subject. */
export const removers: readonly Remover<Store>[] = [
  // Access is removed first.
  members,
  tokens,
  accessRequests,
  invitations,
  scim,
  hooks,
  integrations,
  notifications,
  projectRelations,
  groups,
  statistics,
  runners,
  jobTraces,
  stars,
  topics,
  refs,
  releases,
  environments,
  ciVariables,
  pipelineSchedules,
  triggers,
  errorTracking,
  alerts,
  approvals,
  // Closed before `events`, which their writers record.
  wikis,
  // Events refer to notes, so they are deleted first.
  events,
  notes,
  awardEmoji,
  issues,
  mergeRequests,
  // After the rows that name them.
  texts,
  uploads,
  lfs,
  labels,
  milestones,
  epics,
  iterations,
  snippets,
  storageMoves,
  jobs,
  // After the jobs, whose changes count their files.
  artifacts,
  packages,
  pipelines,
  forks,
  customAttributes,
  keys,
  emails,
  rateLimits,
  todos,
  // After `groups`, which finds the shares that it ends through the rows in the group's partition.
  placement,
  // After `keys` and `emails`, which find the claims that they release through the rows in the user's partition.
  users,
  repository,
  // Last, so that an interrupted removal can still be found by the remaining rows.
  search,
  projects,
];
