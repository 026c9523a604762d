import type { Endpoint } from '../http/endpoint.ts';
import { document } from '../http/openapi.ts';
import type { OpenApiDocument } from '../http/openapi-document.ts';
import { accessRequestEndpoints } from './access-requests/endpoints.ts';
import { alertEndpoints } from './alerts/endpoints.ts';
import { approvalEndpoints } from './approvals/endpoints.ts';
import { mergeRequestApprovalEndpoints } from './approvals/of-merge-requests.ts';
import { artifactEndpoints } from './artifacts/endpoints.ts';
import { runnerArtifactEndpoints } from './artifacts/for-runners.ts';
import { projectArtifactEndpoints } from './artifacts/of-project.ts';
import { auditEventEndpoints } from './audit-events/endpoints.ts';
import { uploadEndpoints } from './avatars/endpoints.ts';
import { billableEndpoints } from './billable-members/endpoints.ts';
import { branchEndpoints } from './branches/endpoints.ts';
import { changelogEndpoints } from './changelog/endpoints.ts';
import { ciConfigEndpoints } from './ci-config/endpoints.ts';
import { ciVariableEndpoints } from './ci-variables/endpoints.ts';
import { commitEndpoints } from './commits/endpoints.ts';
import { customAttributeEndpoints } from './custom-attributes/endpoints.ts';
import { emailEndpoints } from './emails/endpoints.ts';
import type { ApiDeps } from './endpoint.ts';
import { environmentEndpoints } from './environments/endpoints.ts';
import { errorTrackingEndpoints } from './error-tracking/endpoints.ts';
import { eventEndpoints } from './events/endpoints.ts';
import { fileEndpoints } from './files/endpoints.ts';
import { forkEndpoints } from './forks/endpoints.ts';
import { groupSsoEndpoints } from './group-sso/endpoints.ts';
import { groupEndpoints } from './groups/endpoints.ts';
import { hookEndpoints } from './hooks/endpoints.ts';
import { integrationEndpoints } from './integrations/endpoints.ts';
import { slashCommandEndpoints } from './integrations/slash-commands.ts';
import { invitationEndpoints } from './invitations/endpoints.ts';
import { issueAndEpicEndpoints } from './issues/all.ts';
import { milestoneIssueEndpoints } from './issues/of-milestones.ts';
import { iterationEndpoints } from './iterations/endpoints.ts';
import { jobRequestEndpoints } from './job-requests/endpoints.ts';
import { jobEndpoints, pipelineJobEndpoints } from './jobs/endpoints.ts';
import { runnerJobEndpoints } from './jobs/of-runner.ts';
import { keyEndpoints } from './keys/endpoints.ts';
import { labelEndpoints } from './labels/endpoints.ts';
import { markdownEndpoints } from './markdown/endpoints.ts';
import { groupMemberEndpoints, projectMemberEndpoints } from './members/endpoints.ts';
import { mergeRequestChangeEndpoints } from './merge-requests/changes.ts';
import { mergeRequestClosesIssuesEndpoints } from './merge-requests/closes-issues.ts';
import { mergeRequestContextCommitEndpoints } from './merge-requests/context-commits.ts';
import { mergeRequestEndpoints } from './merge-requests/endpoints.ts';
import { mergeRequestMergingEndpoints } from './merge-requests/merging.ts';
import { mergeRequestNoteEndpoints } from './merge-requests/notes.ts';
import { mergeRequestOfCommitEndpoints } from './merge-requests/of-commits.ts';
import { mergeRequestOfIssueEndpoints } from './merge-requests/of-issues.ts';
import { mergeRequestOfMilestoneEndpoints } from './merge-requests/of-milestones.ts';
import { mergeRequestPeopleEndpoints } from './merge-requests/people.ts';
import { mergeRequestPipelineEndpoints } from './merge-requests/pipelines.ts';
import { mergeRequestTimeEndpoints } from './merge-requests/time-tracking.ts';
import { metaEndpoints } from './meta/endpoints.ts';
import { milestoneEndpoints } from './milestones/endpoints.ts';
import { namespaceEndpoints } from './namespaces/endpoints.ts';
import { notificationSettingEndpoints } from './notifications/endpoints.ts';
import { packageEndpoints } from './packages/endpoints.ts';
import { pipelineScheduleEndpoints } from './pipeline-schedules/endpoints.ts';
import { statusEndpoints } from './pipelines/commit-statuses.ts';
import { pipelineEndpoints } from './pipelines/endpoints.ts';
import { projectRelationEndpoints } from './project-relations/endpoints.ts';
import { projectEndpoints } from './projects/endpoints.ts';
import { userProjectEndpoints } from './projects/of-users.ts';
import { releaseEndpoints } from './releases/endpoints.ts';
import { repositoryEndpoints } from './repository/endpoints.ts';
import { runnerEndpoints } from './runners/endpoints.ts';
import { scimEndpoints } from './scim/endpoints.ts';
import { searchEndpoints } from './search/endpoints.ts';
import { settingEndpoints } from './settings/endpoints.ts';
import { signatureEndpoints, tagSignatureEndpoints } from './signatures/endpoints.ts';
import { snippetEndpoints } from './snippets/endpoints.ts';
import { snippetNoteEndpoints } from './snippets/notes.ts';
import { starEndpoints } from './stars/endpoints.ts';
import { fetchEndpoints, statisticsEndpoints } from './statistics/endpoints.ts';
import { allGroupMoveEndpoints, groupMoveEndpoints } from './storage-moves/of-groups.ts';
import { allProjectMoveEndpoints, projectMoveEndpoints } from './storage-moves/of-projects.ts';
import { snippetMoveEndpoints } from './storage-moves/of-snippets.ts';
import { suggestionEndpoints } from './suggestions/endpoints.ts';
import { tagEndpoints } from './tags/endpoints.ts';
import { projectTemplateEndpoints, templateEndpoints } from './templates/endpoints.ts';
import { todoEndpoints } from './todos/endpoints.ts';
import { issueTodoEndpoints } from './todos/of-issues.ts';
import { mergeRequestTodoEndpoints } from './todos/of-merge-requests.ts';
import { tokenEndpoints } from './tokens/endpoints.ts';
import { topicEndpoints } from './topics/endpoints.ts';
import { triggerEndpoints } from './triggers/endpoints.ts';
import { projectUploadEndpoints } from './uploads/endpoints.ts';
import { userEndpoints } from './users/endpoints.ts';
import { VERSION } from './version.ts';
import { wikiEndpoints } from './wikis/endpoints.ts';

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
  ...mergeRequestOfMilestoneEndpoints,
  ...mergeRequestOfCommitEndpoints,
  ...mergeRequestClosesIssuesEndpoints,
  ...mergeRequestContextCommitEndpoints,
  ...iterationEndpoints,
  ...issueAndEpicEndpoints,
  ...issueTodoEndpoints,
  ...snippetEndpoints,
  ...snippetNoteEndpoints,
  ...mergeRequestTodoEndpoints,
  ...suggestionEndpoints,
  ...todoEndpoints,
  ...eventEndpoints,
  ...mergeRequestEndpoints,
  ...mergeRequestMergingEndpoints,
  ...approvalEndpoints,
  ...mergeRequestApprovalEndpoints,
  ...mergeRequestNoteEndpoints,
  ...mergeRequestChangeEndpoints,
  ...mergeRequestPeopleEndpoints,
  ...mergeRequestPipelineEndpoints,
  ...mergeRequestTimeEndpoints,
  ...mergeRequestOfIssueEndpoints,
  ...fileEndpoints,
  ...commitEndpoints,
  ...statusEndpoints,
  ...pipelineEndpoints,
  ...pipelineJobEndpoints,
  ...jobEndpoints,
  ...runnerJobEndpoints,
  ...artifactEndpoints,
  ...projectArtifactEndpoints,
  ...repositoryEndpoints,
  ...changelogEndpoints,
  ...ciConfigEndpoints,
  ...ciVariableEndpoints,
  ...pipelineScheduleEndpoints,
  ...triggerEndpoints,
  ...alertEndpoints,
  ...errorTrackingEndpoints,
  ...signatureEndpoints,
  ...branchEndpoints,
  ...tagEndpoints,
  ...packageEndpoints,
  ...releaseEndpoints,
  ...environmentEndpoints,
  ...runnerEndpoints,
  ...jobRequestEndpoints,
  ...runnerArtifactEndpoints,
  ...tagSignatureEndpoints,
  ...uploadEndpoints,
  ...customAttributeEndpoints,
  ...notificationSettingEndpoints,
  ...auditEventEndpoints,
  ...groupSsoEndpoints,
  ...scimEndpoints,
  ...searchEndpoints,
  ...settingEndpoints,
  ...allProjectMoveEndpoints,
  ...projectMoveEndpoints,
  ...allGroupMoveEndpoints,
  ...groupMoveEndpoints,
  ...snippetMoveEndpoints,
  ...wikiEndpoints,
  ...hookEndpoints,
  ...integrationEndpoints,
  ...slashCommandEndpoints,
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
