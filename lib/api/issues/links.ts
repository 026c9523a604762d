import type { Actor } from '../../domain/actor.ts';
import type { FoundLink } from '../../domain/issues/links.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { ISSUE_LINK_TYPES, type IssueLinkRecord } from '../../records/issues.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { issueFields, ofIssue } from './params.ts';
import { presentedIssues } from './presented.ts';
import * as shapes from './shapes.ts';

const area = 'issues';
const path = '/projects/:id/issues/:issue_iid/links' as const;
const ofLink = () =>
  p.params({
    ...issueFields(),
    issue_link_id: p.integer({ required: true, description: 'ID of the relation' }),
  });
/** The rules of relations: most requests are about issues alone. */
const links = () => import('../../domain/issues/links.ts');

const absent = { status: 404, description: 'Issue or relation not found' };

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the issues that an issue relates to',
  description: 'Without those that you may not see; at most 200, the oldest relation first.',
  access: project('read_issues', { anonymous: true }),
  params: ofIssue,
  returns: { body: shapes.relatedIssues },
  errors: [absent, { status: 413, description: 'The descriptions of the issues are too long together' }],
  handle: async ({ actor, project, params, request }, deps) => {
    const found = await (await links()).listLinks(deps, actor, project, params.issue_iid);
    const shown = await presentedIssues(
      deps,
      actor,
      found.map(({ target }) => target),
      request.baseUrl,
      { kind: 'project', id: project.project.id },
    );
    return shown.map((issue, i) => {
      const { id: issue_link_id, ...rest } = linkFields(found[i]!.link);
      return { ...issue, issue_link_id, ...rest };
    });
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:issue_link_id`,
  area,
  summary: 'Get a relation of an issue',
  access: project('read_issues', { anonymous: true }),
  params: ofLink,
  returns: { body: shapes.issueLink },
  errors: [absent],
  handle: async ({ actor, project, params, request }, deps) =>
    present(
      deps,
      actor,
      await (await links()).getLink(deps, actor, project, params.issue_iid, params.issue_link_id),
      request.baseUrl,
    ),
});

const create = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Create a relation between two issues',
  description: 'For Reporters of both projects. An issue has at most 200 relations.',
  access: project('read_issues'),
  params: ofIssue,
  body: () =>
    p.params({
      target_project_id: p.string({ required: true, description: 'ID or full path of the other project' }),
      target_issue_iid: p.integer({ required: true, description: 'Number of the issue in that project' }),
      link_type: p.oneOf(ISSUE_LINK_TYPES, { default: 'relates_to', description: 'How they relate' }),
    }),
  returns: { body: shapes.issueLink },
  errors: [
    { status: 400, description: 'It is the same issue, or one of them has 200 relations' },
    absent,
    { status: 409, description: 'The issues are related' },
  ],
  handle: async ({ actor, project, params, body, request }, deps) => {
    const found = await (await links()).addLink(deps, actor, project, params.issue_iid, {
      targetProject: body.target_project_id,
      targetIid: body.target_issue_iid,
      type: body.link_type,
    });
    return present(deps, actor, found, request.baseUrl);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:issue_link_id`,
  area,
  summary: 'Delete a relation of an issue',
  access: project('read_issues'),
  params: ofLink,
  returns: { status: 200, body: shapes.issueLink },
  errors: [absent],
  handle: async ({ actor, project, params, request }, deps) =>
    present(
      deps,
      actor,
      await (await links()).removeLink(deps, actor, project, params.issue_iid, params.issue_link_id),
      request.baseUrl,
    ),
});

export const issueLinkEndpoints = [list, get, create, remove];

/** Relations are not changed. */
const linkFields = ({ id, type, createdAt }: IssueLinkRecord) => ({
  id,
  link_type: type,
  link_created_at: createdAt,
  link_updated_at: createdAt,
});

async function present(deps: ApiDeps, actor: Actor, { link, source, target }: FoundLink, baseUrl: string) {
  const askedIn = { kind: 'project', id: source.issue.projectId } as const;
  const [source_issue, target_issue] = await presentedIssues(deps, actor, [source, target], baseUrl, askedIn);
  return { ...linkFields(link), source_issue: source_issue!, target_issue: target_issue! };
}
