import * as alerts from './alerts.ts';
import * as auditEvents from './audit-events.ts';
import * as ciVariables from './ci-variables.ts';
import * as commits from './commits.ts';
import * as environments from './environments.ts';
import * as epics from './epics.ts';
import * as errorTracking from './error-tracking.ts';
import * as forks from './forks.ts';
import * as groups from './groups.ts';
import * as hooks from './hooks.ts';
import * as integrations from './integrations.ts';
import * as issues from './issues.ts';
import * as iterations from './iterations.ts';
import * as labels from './labels.ts';
import * as members from './members.ts';
import * as mergeRequests from './merge-requests.ts';
import * as notes from './notes.ts';
import * as packages from './packages.ts';
import * as pipelineSchedules from './pipeline-schedules.ts';
import * as pipelines from './pipelines.ts';
import * as projects from './projects.ts';
import * as refs from './refs.ts';
import * as releases from './releases.ts';
import * as repository from './repository.ts';
import type { GroupRule, ProjectRule } from './rules.ts';
import * as runners from './runners.ts';
import * as snippets from './snippets.ts';
import * as statistics from './statistics.ts';
import * as tokens from './tokens.ts';
import * as uploads from './uploads.ts';
import * as wikis from './wikis.ts';

/** What every subject lets people do in a project: one line for each subject. */
const project = {
  ...alerts.project,
  ...auditEvents.project,
  ...ciVariables.project,
  ...commits.project,
  ...environments.project,
  ...errorTracking.project,
  ...forks.project,
  ...hooks.project,
  ...integrations.project,
  ...issues.project,
  ...iterations.project,
  ...labels.project,
  ...members.project,
  ...mergeRequests.project,
  ...notes.project,
  ...pipelineSchedules.project,
  ...packages.project,
  ...pipelines.project,
  ...projects.project,
  ...refs.project,
  ...releases.project,
  ...repository.project,
  ...runners.project,
  ...snippets.project,
  ...statistics.project,
  ...tokens.project,
  ...uploads.project,
  ...wikis.project,
};

/** The same in a group. */
const group = {
  ...auditEvents.group,
  ...ciVariables.group,
  ...epics.group,
  ...groups.group,
  ...hooks.group,
  ...integrations.group,
  ...iterations.group,
  ...labels.group,
  ...members.group,
  ...runners.group,
  ...tokens.group,
  ...wikis.group,
};

export type ProjectAbility = keyof typeof project;
export type GroupAbility = keyof typeof group;

export const PROJECT_RULES: Readonly<Record<ProjectAbility, ProjectRule>> = project;
export const GROUP_RULES: Readonly<Record<GroupAbility, GroupRule>> = group;
