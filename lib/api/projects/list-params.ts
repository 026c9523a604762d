/** Query parameters of lists of projects. */

import * as p from '../../http/params.ts';
import { VISIBILITIES } from '../../records/visibility.ts';

export const PROJECT_ORDERS = ['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'] as const;

/** What all of these lists take. */
export const projectFilters = () => ({
  archived: p.boolean({
    description: 'Return only archived projects, or only projects that are not archived',
  }),
  min_access_level: p.integer({
    values: [10, 20, 30, 40, 50],
    description: 'Return only projects where you have at least this access level',
  }),
  owned: p.boolean({ default: false, description: 'Return only projects that you own' }),
  search: p.string({ description: 'Return only projects whose name or path contains this text' }),
  simple: p.boolean({ default: false, description: 'Return only a limited set of fields' }),
  sort: p.oneOf(['asc', 'desc'], { default: 'desc', description: 'Sort direction' }),
  starred: p.boolean({ default: false, description: 'Return only projects that you have starred' }),
  visibility: p.oneOf(VISIBILITIES, { description: 'Return only projects with this visibility' }),
  with_custom_attributes: p.boolean({
    default: false,
    description: 'Include custom attributes; administrators only',
  }),
  with_issues_enabled: p.boolean({
    default: false,
    description: 'Return only projects with issues enabled',
  }),
  with_merge_requests_enabled: p.boolean({
    default: false,
    description: 'Return only projects with merge requests enabled',
  }),
});

/** What lists take that are not a group's. */
export const memberFilters = () => ({
  ...projectFilters(),
  membership: p.boolean({ default: false, description: 'Return only projects that you are a member of' }),
  statistics: p.boolean({ default: false, description: 'Include statistics; requires the Reporter role' }),
});

/** What the lists of a user, and of the forks of a project, take. */
export const relatedListParams = () =>
  p.params({
    ...memberFilters(),
    order_by: p.oneOf(PROJECT_ORDERS, {
      default: 'created_at',
      description: 'Field to sort the projects by',
    }),
  });
