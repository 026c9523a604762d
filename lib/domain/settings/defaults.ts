/**
 * Defaults of the settings that have an effect. All others are stored and shown (`attributes/`), but no rule reads them; a
 * new feature moves its settings to the file of its subject in `defaults/`.
 */

import type { StoreEnvironment } from '../../store/environment.ts';
import { alerts } from './defaults/alerts.ts';
import { artifacts } from './defaults/artifacts.ts';
import { ciVariables } from './defaults/ci-variables.ts';
import { events } from './defaults/events.ts';
import { groups } from './defaults/groups.ts';
import { hooks } from './defaults/hooks.ts';
import { imports } from './defaults/imports.ts';
import { instance } from './defaults/instance.ts';
import { keys } from './defaults/keys.ts';
import { mail } from './defaults/mail.ts';
import { projects } from './defaults/projects.ts';
import { rateLimits } from './defaults/rate-limits.ts';
import { refs } from './defaults/refs.ts';
import { repository } from './defaults/repository.ts';
import { runners } from './defaults/runners.ts';
import { snippets } from './defaults/snippets.ts';
import { tokens } from './defaults/tokens.ts';
import { uploads } from './defaults/uploads.ts';
import { users } from './defaults/users.ts';
import { wikis } from './defaults/wikis.ts';

const MB = 1024 ** 2;
const DELETION_DAYS = 7;

/** One line for each subject that has settings. */
const fixed = {
  ...projects,
  ...groups,
  ...refs,
  ...users,
  ...rateLimits,
  ...tokens,
  ...keys,
  ...mail,
  ...repository,
  ...runners,
  ...instance,
  ...imports,
  ...hooks,
  ...events,
  ...uploads,
  ...snippets,
  ...wikis,
  ...alerts,
  ...ciVariables,
  ...artifacts,
};

/** Settings whose defaults come from the environment. */
const configured = (environment: StoreEnvironment) => ({
  default_branch_name: environment.defaultBranchName as string | null,
  /** Whether the deletion of groups, and of projects in groups, is delayed */
  delayed_project_deletion: environment.deletionDelayDays > 0,
  delayed_group_deletion: environment.deletionDelayDays > 0,
  /** Days of the delay */
  deletion_adjourned_period: environment.deletionDelayDays || DELETION_DAYS,
  /** A deployed instance begins with them: `clientThrottles` in `cdk/settings.ts` */
  throttle_unauthenticated_api_enabled: environment.clientThrottles,
  throttle_authenticated_api_enabled: environment.clientThrottles,
  /** MB; 0: the limit of the environment */
  max_import_size: Math.floor(environment.importMaxBytes / MB),
});

/** The settings that have an effect, by the names of the REST API. */
export type InstanceSettings = Readonly<typeof fixed & ReturnType<typeof configured>>;

export const defaultSettings = (environment: StoreEnvironment): InstanceSettings => ({
  ...fixed,
  ...configured(environment),
});
