import { MAINTENANCE } from '../../store/outbox/outbox.ts';
import { jobs as accessRequests } from '../access-requests/jobs.ts';
import { jobs as alerts } from '../alerts/jobs.ts';
import { jobs as artifacts } from '../artifacts/jobs.ts';
import { jobs as billableMembers } from '../billable-members/jobs.ts';
import { jobs as branches } from '../branches/jobs.ts';
import { jobs as deletion } from '../deletion/jobs.ts';
import type { Deps } from '../deps.ts';
import { jobs as environments } from '../environments/jobs.ts';
import { jobs as epics } from '../epics/jobs.ts';
import { jobs as errorTracking } from '../error-tracking/jobs.ts';
import { jobs as forks } from '../forks/jobs.ts';
import { jobs as groups } from '../groups/jobs.ts';
import { jobs as hooks } from '../hooks/jobs.ts';
import { jobs as invitations } from '../invitations/jobs.ts';
import { jobs as issueMoves } from '../issue-moves/jobs.ts';
import { jobs as issues } from '../issues/jobs.ts';
import type { JobDefinition } from '../job.ts';
import { jobs as labels } from '../labels/jobs.ts';
import { jobs as lfs } from '../lfs/jobs.ts';
import { jobs as maintenance } from '../maintenance/jobs.ts';
import { jobs as members } from '../members/jobs.ts';
import { jobs as mergeRequests } from '../merge-requests/jobs.ts';
import { jobs as milestones } from '../milestones/jobs.ts';
import { jobs as namespaces } from '../namespaces/jobs.ts';
import { jobs as notes } from '../notes/jobs.ts';
import { jobs as notifications } from '../notifications/jobs.ts';
import { jobs as packages } from '../packages/jobs.ts';
import { jobs as pipelineSchedules } from '../pipeline-schedules/jobs.ts';
import { jobs as pipelines } from '../pipelines/jobs.ts';
import { jobs as references } from '../references/jobs.ts';
import { jobs as releases } from '../releases/jobs.ts';
import { jobs as search } from '../search/jobs.ts';
import { jobs as snippets } from '../snippets/jobs.ts';
import { jobs as statistics } from '../statistics/jobs.ts';
import { jobs as storageMoves } from '../storage-moves/jobs.ts';
import { jobs as texts } from '../texts/jobs.ts';
import { jobs as todos } from '../todos/jobs.ts';
import { jobs as tokens } from '../tokens/jobs.ts';
import { jobs as topics } from '../topics/jobs.ts';
import { jobs as users } from '../users/jobs.ts';
import { jobRunner } from './run-job.ts';

/** All jobs of the queue `maintenance`: a line for each subject. */
export const maintenanceJobs: readonly JobDefinition<unknown, Deps>[] = [
  ...accessRequests,
  ...alerts,
  ...artifacts,
  ...billableMembers,
  ...branches,
  ...deletion,
  ...environments,
  ...epics,
  ...errorTracking,
  ...forks,
  ...groups,
  ...hooks,
  ...invitations,
  ...issueMoves,
  ...issues,
  ...labels,
  ...lfs,
  ...maintenance,
  ...members,
  ...mergeRequests,
  ...milestones,
  ...namespaces,
  ...notes,
  ...notifications,
  ...pipelineSchedules,
  ...pipelines,
  ...packages,
  ...references,
  ...releases,
  ...search,
  ...snippets,
  ...statistics,
  ...storageMoves,
  ...todos,
  ...texts,
  ...tokens,
  ...topics,
  ...users,
];

/** Runs the job of one message of the queue `maintenance`. */
export const runJob = jobRunner(MAINTENANCE, maintenanceJobs);
