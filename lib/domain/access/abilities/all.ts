import * as auditEvents from './audit-events.ts';
import * as commits from './commits.ts';
import * as epics from './epics.ts';
import * as forks from './forks.ts';
import * as groups from './groups.ts';
import * as issues from './issues.ts';
import * as iterations from './iterations.ts';
import * as labels from './labels.ts';
import * as members from './members.ts';
import * as mergeRequests from './merge-requests.ts';
import * as notes from './notes.ts';
import * as pipelines from './pipelines.ts';
import * as projects from './projects.ts';
import * as refs from './refs.ts';
import * as repository from './repository.ts';
import type { GroupRule, ProjectRule } from './rules.ts';
import * as statistics from './statistics.ts';
import * as tokens from './tokens.ts';
import * as uploads from './uploads.ts';

/** What every subject lets people do in a project: one line for each subject. */
const project = {
  ...auditEvents.project,
  ...commits.project,
  ...forks.project,
  ...issues.project,
  ...iterations.project,
  ...labels.project,
  ...members.project,
  ...mergeRequests.project,
  ...notes.project,
  ...pipelines.project,
  ...projects.project,
  ...refs.project,
  ...repository.project,
  ...statistics.project,
  ...tokens.project,
  ...uploads.project,
};

/** The same in a group. */
const group = {
  ...auditEvents.group,
  ...epics.group,
  ...groups.group,
  ...iterations.group,
  ...labels.group,
  ...members.group,
  ...tokens.group,
};

export type ProjectAbility = keyof typeof project;
export type GroupAbility = keyof typeof group;

export const PROJECT_RULES: Readonly<Record<ProjectAbility, ProjectRule>> = project;
export const GROUP_RULES: Readonly<Record<GroupAbility, GroupRule>> = group;
