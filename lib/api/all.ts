import type { Endpoint } from '../http/endpoint.ts';
import { document } from '../http/openapi.ts';
import type { OpenApiDocument } from '../http/openapi-document.ts';
import { accessRequestEndpoints } from './access-requests/endpoints.ts';
import { approvalEndpoints } from './approvals/endpoints.ts';
import { mergeRequestApprovalEndpoints } from './approvals/of-merge-requests.ts';
import { auditEventEndpoints } from './audit-events/endpoints.ts';
import { uploadEndpoints } from './avatars/endpoints.ts';
import { billableEndpoints } from './billable-members/endpoints.ts';
import { branchEndpoints } from './branches/endpoints.ts';
import { changelogEndpoints } from './changelog/endpoints.ts';
import { commitEndpoints } from './commits/endpoints.ts';
import { customAttributeEndpoints } from './custom-attributes/endpoints.ts';
import { emailEndpoints } from './emails/endpoints.ts';
import type { ApiDeps } from './endpoint.ts';
import { eventEndpoints } from './events/endpoints.ts';
import { fileEndpoints } from './files/endpoints.ts';
import { forkEndpoints } from './forks/endpoints.ts';
import { groupSsoEndpoints } from './group-sso/endpoints.ts';
import { groupEndpoints } from './groups/endpoints.ts';
import { invitationEndpoints } from './invitations/endpoints.ts';
import { issueAndEpicEndpoints } from './issues/all.ts';
import { milestoneIssueEndpoints } from './issues/of-milestones.ts';
import { iterationEndpoints } from './iterations/endpoints.ts';
import { keyEndpoints } from './keys/endpoints.ts';
import { labelEndpoints } from './labels/endpoints.ts';
import { markdownEndpoints } from './markdown/endpoints.ts';
import { groupMemberEndpoints, projectMemberEndpoints } from './members/endpoints.ts';
import { mergeRequestChangeEndpoints } from './merge-requests/changes.ts';
import { mergeRequestEndpoints } from './merge-requests/endpoints.ts';
import { mergeRequestMergingEndpoints } from './merge-requests/merging.ts';
import { mergeRequestNoteEndpoints } from './merge-requests/notes.ts';
import { mergeRequestOfIssueEndpoints } from './merge-requests/of-issues.ts';
import { mergeRequestPeopleEndpoints } from './merge-requests/people.ts';
import { mergeRequestTimeEndpoints } from './merge-requests/time-tracking.ts';
import { metaEndpoints } from './meta/endpoints.ts';
import { milestoneEndpoints } from './milestones/endpoints.ts';
import { namespaceEndpoints } from './namespaces/endpoints.ts';
import { notificationSettingEndpoints } from './notifications/endpoints.ts';
import { statusEndpoints } from './pipelines/commit-statuses.ts';
import { projectRelationEndpoints } from './project-relations/endpoints.ts';
import { projectEndpoints } from './projects/endpoints.ts';
import { userProjectEndpoints } from './projects/of-users.ts';
import { repositoryEndpoints } from './repository/endpoints.ts';
import { scimEndpoints } from './scim/endpoints.ts';
import { searchEndpoints } from './search/endpoints.ts';
import { settingEndpoints } from './settings/endpoints.ts';
import { signatureEndpoints, tagSignatureEndpoints } from './signatures/endpoints.ts';
import { starEndpoints } from './stars/endpoints.ts';
import { fetchEndpoints, statisticsEndpoints } from './statistics/endpoints.ts';
import { tagEndpoints } from './tags/endpoints.ts';
import { projectTemplateEndpoints, templateEndpoints } from './templates/endpoints.ts';
import { todoEndpoints } from './todos/endpoints.ts';
import { issueTodoEndpoints } from './todos/of-issues.ts';
import { mergeRequestTodoEndpoints } from './todos/of-merge-requests.ts';
import { tokenEndpoints } from './tokens/endpoints.ts';
import { topicEndpoints } from './topics/endpoints.ts';
import { projectUploadEndpoints } from './uploads/endpoints.ts';
import { userEndpoints } from './users/endpoints.ts';
import { VERSION } from './version.ts';

/** Every endpoint of the service, by area. */
export const allEndpoints: readonly Endpoint<ApiDeps>[] = [
  ...metaEndpoints(async () => apiDocument()),
  ...userEndpoints,
  ...userProjectEndpoints,
  ...tokenEndpoints,
  ...projectEndpoints,
  ...forkEndpoints,
  ...templateEndpoints,
  ...projectTemplateEndpoints,
  ...projectUploadEndpoints,
  ...markdownEndpoints,
  ...starEndpoints,
  ...topicEndpoints,
  ...projectRelationEndpoints,
  ...statisticsEndpoints,
  ...fetchEndpoints,
  ...groupEndpoints,
  ...namespaceEndpoints,
  ...groupMemberEndpoints,
  ...keyEndpoints,
  ...emailEndpoints,
  ...projectMemberEndpoints,
  ...invitationEndpoints,
  ...accessRequestEndpoints,
  ...billableEndpoints,
  ...labelEndpoints,
  ...milestoneEndpoints,
  ...milestoneIssueEndpoints,
  ...iterationEndpoints,
  ...issueAndEpicEndpoints,
  ...issueTodoEndpoints,
  ...mergeRequestTodoEndpoints,
  ...todoEndpoints,
  ...eventEndpoints,
  ...mergeRequestEndpoints,
  ...mergeRequestMergingEndpoints,
  ...approvalEndpoints,
  ...mergeRequestApprovalEndpoints,
  ...mergeRequestNoteEndpoints,
  ...mergeRequestChangeEndpoints,
  ...mergeRequestPeopleEndpoints,
  ...mergeRequestTimeEndpoints,
  ...mergeRequestOfIssueEndpoints,
  ...fileEndpoints,
  ...commitEndpoints,
  ...statusEndpoints,
  ...repositoryEndpoints,
  ...changelogEndpoints,
  ...signatureEndpoints,
  ...branchEndpoints,
  ...tagEndpoints,
  ...tagSignatureEndpoints,
  ...uploadEndpoints,
  ...customAttributeEndpoints,
  ...notificationSettingEndpoints,
  ...auditEventEndpoints,
  ...groupSsoEndpoints,
  ...scimEndpoints,
  ...searchEndpoints,
  ...settingEndpoints,
];

/** The OpenAPI document of the service. Lambda bundles contain the one generated at build time (`cdk/bundle.ts`). */
export const apiDocument = (): OpenApiDocument =>
  document(allEndpoints, { title: 'Lemnos', version: VERSION, serverUrl: '', description: DESCRIPTION });

/** Markdown. */
const DESCRIPTION = [
  'Send a token in the `PRIVATE-TOKEN` header, or as `Authorization: Bearer <token>`.',
  'In paths, a project or group is named by its number or by its full path, percent-encoded: `group%2Fproject`.',
  'Lists come in pages: `page` and `per_page` choose one, and the `Link` header names the next.',
].join('\n\n');
