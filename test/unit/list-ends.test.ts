/** How a client comes to the end of each list, however long it is. */
import { expect, test } from 'vitest';
import { allEndpoints } from '../../lib/api/all.ts';

/** Lists that are read by number alone, because limits keep them shorter than what can be read so. */
const SHORT = [
  'GET /admin/ci/variables',
  'GET /groups/:id/access_tokens',
  'GET /groups/:id/deploy_tokens',
  'GET /groups/:id/epics/:epic_iid/issues',
  'GET /groups/:id/hooks',
  'GET /groups/:id/hooks/:hook_id/events',
  'GET /groups/:id/integrations',
  'GET /groups/:id/invitations',
  'GET /groups/:id/iterations',
  'GET /groups/:id/variables',
  'GET /groups/:id/wikis',
  'GET /hooks',
  'GET /hooks/:id/events',
  'GET /integrations',
  'GET /projects/:id/access_tokens',
  'GET /projects/:id/alert_integrations',
  'GET /projects/:id/approval_rules',
  'GET /projects/:id/deploy_tokens',
  'GET /projects/:id/deployments/:deployment_id/merge_requests',
  'GET /projects/:id/environments',
  'GET /projects/:id/error_tracking/client_keys',
  'GET /projects/:id/groups',
  'GET /projects/:id/hooks',
  'GET /projects/:id/hooks/:hook_id/events',
  'GET /projects/:id/integrations',
  'GET /projects/:id/invitations',
  'GET /projects/:id/issues/:issue_iid/closed_by',
  'GET /projects/:id/issues/:issue_iid/related_merge_requests',
  'GET /projects/:id/iterations',
  'GET /projects/:id/merge_requests/:merge_request_iid/approval_rules',
  'GET /projects/:id/merge_requests/:merge_request_iid/closes_issues',
  'GET /projects/:id/merge_requests/:merge_request_iid/commits',
  'GET /projects/:id/merge_requests/:merge_request_iid/context_commits',
  'GET /projects/:id/merge_requests/:merge_request_iid/diffs',
  'GET /projects/:id/merge_requests/:merge_request_iid/pipelines',
  'GET /projects/:id/merge_requests/:merge_request_iid/versions',
  'GET /projects/:id/packages/:package_id/package_files',
  'GET /projects/:id/pipeline_schedules',
  'GET /projects/:id/pipelines/:pipeline_id/bridges',
  'GET /projects/:id/pipelines/:pipeline_id/jobs',
  'GET /projects/:id/protected_branches',
  'GET /projects/:id/protected_environments',
  'GET /projects/:id/protected_tags',
  'GET /projects/:id/releases',
  'GET /projects/:id/releases/:tag_name/assets/links',
  'GET /projects/:id/repository/commits/:sha/diff',
  'GET /projects/:id/repository/commits/:sha/merge_requests',
  'GET /projects/:id/services',
  'GET /projects/:id/templates/:type',
  'GET /projects/:id/triggers',
  'GET /projects/:id/variables',
  'GET /projects/:id/wikis',
  'GET /templates/ci_ymls',
  'GET /templates/dockerfiles',
  'GET /templates/gitignores',
  'GET /templates/gitlab_ci_ymls',
  'GET /templates/licenses',
  'GET /user/emails',
  'GET /user/gpg_keys',
  'GET /user/keys',
  'GET /users/:id/emails',
  'GET /users/:id/gpg_keys',
  'GET /users/:id/keys',
  'GET /users/:user_id/impersonation_tokens',
  'PUT /groups/:id/epics/:epic_iid/issues/:epic_issue_id',
];
/** Lists that end where numbers do; docs/shortcomings.md says why. */
const ENDING = [
  'GET /groups/:id/scim/identities',
  'GET /groups/:id/search',
  'GET /projects/:id/search',
  'GET /search',
];

test('each list has a keyset or takes any offset, or is known to be short, or to end', () => {
  const byNumber = allEndpoints.filter(
    ({ paginate, keyset, anyOffset }) => paginate !== undefined && keyset === undefined && !anyOffset,
  );
  const named = byNumber.map(({ method, path }) => `${method} ${path}`);
  expect(named.toSorted()).toEqual([...SHORT, ...ENDING].toSorted());
});
