import { MAINTENANCE } from '../../store/outbox/outbox.ts';
import { jobs as accessRequests } from '../access-requests/jobs.ts';
import { jobs as billableMembers } from '../billable-members/jobs.ts';
import { jobs as branches } from '../branches/jobs.ts';
import { jobs as deletion } from '../deletion/jobs.ts';
import type { Deps } from '../deps.ts';
import { jobs as epics } from '../epics/jobs.ts';
import { jobs as forks } from '../forks/jobs.ts';
import { jobs as groups } from '../groups/jobs.ts';
import { jobs as invitations } from '../invitations/jobs.ts';
import { jobs as issueMoves } from '../issue-moves/jobs.ts';
import { jobs as issues } from '../issues/jobs.ts';
import type { JobDefinition } from '../job.ts';
import { jobs as labels } from '../labels/jobs.ts';
import { jobs as maintenance } from '../maintenance/jobs.ts';
import { jobs as members } from '../members/jobs.ts';
import { jobs as mergeRequests } from '../merge-requests/jobs.ts';
import { jobs as milestones } from '../milestones/jobs.ts';
import { jobs as namespaces } from '../namespaces/jobs.ts';
import { jobs as notes } from '../notes/jobs.ts';
import { jobs as notifications } from '../notifications/jobs.ts';
import { jobs as references } from '../references/jobs.ts';
import { jobs as search } from '../search/jobs.ts';
import { jobs as statistics } from '../statistics/jobs.ts';
import { jobs as texts } from '../texts/jobs.ts';
import { jobs as todos } from '../todos/jobs.ts';
import { jobs as tokens } from '../tokens/jobs.ts';
import { jobs as topics } from '../topics/jobs.ts';
import { jobs as users } from '../users/jobs.ts';
import { jobRunner } from './run-job.ts';

/** All jobs of the queue `maintenance`: a line for each subject. */
export const maintenanceJobs: readonly JobDefinition<unknown, Deps>[] = [
  ...accessRequests,
  ...billableMembers,
  ...branches,
  ...deletion,
  ...epics,
  ...forks,
  ...groups,
  ...invitations,
  ...issueMoves,
  ...issues,
  ...labels,
  ...maintenance,
  ...members,
  ...mergeRequests,
  ...milestones,
  ...namespaces,
  ...notes,
  ...notifications,
  ...references,
  ...search,
  ...statistics,
  ...todos,
  ...texts,
  ...tokens,
  ...topics,
  ...users,
];

/** Runs the job of one message of the queue `maintenance`. */
export const runJob = jobRunner(MAINTENANCE, maintenanceJobs);
