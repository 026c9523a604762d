import { can } from '../../domain/access/permissions.ts';
import { accessesTo } from '../../domain/access/project-accesses.ts';
import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { forbidden, refused } from '../../domain/errors.ts';
import { codeBeside, related } from '../../domain/forks/network.ts';
import { compareRefs } from '../../domain/repository/compare.ts';
import { diffLimits } from '../../domain/repository/diff-limits.ts';
import { codeOf } from '../../domain/repository/read.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { commitBasic, fileDiff } from '../commits/present.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { projectUrl } from '../projects/present.ts';
import * as shapes from './shapes.ts';

export const compare = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/compare',
  area: 'repository',
  summary: 'Compare two branches, tags or commits',
  description:
    'At most 1,000 commits, and as much of the files as `diff_max_files`, `diff_max_patch_bytes` of each and ' +
    '`diff_max_lines` of the settings allow (1,000, 200 KB and 50,000), with 4 MB of text in all; `compare_timeout` ' +
    'says that something was left out.',
  access: project('read_code', { anonymous: true }),
  query: () =>
    p.params({
      from: p.string({ required: true, description: 'Branch, tag or commit to compare with' }),
      to: p.string({ required: true, description: 'Branch, tag or commit that is looked at' }),
      from_project_id: p.integer({ description: 'Project that `from` is in; this one when absent' }),
      straight: p.boolean({
        default: false,
        description: 'Compare with `from` itself instead of where the two parted',
      }),
    }),
  returns: { body: shapes.comparison },
  errors: [
    { status: 400, description: 'The other project is no fork of this one' },
    { status: 403, description: "The other project's code is not yours to read" },
    { status: 404, description: 'No such revision' },
  ],
  first: ({ query }) => (query.from_project_id === undefined ? { revisions: [query.from, query.to] } : {}),
  handle: async ({ actor, project, params, query, request }, deps) => {
    const other = await otherProject(deps, actor, project, query.from_project_id, params.id);
    const limits = await diffLimits(deps);
    const found =
      other === undefined
        ? await compareRefs(codeOf(deps, project), query, limits)
        : await compareRefs(codeBeside(deps, project, other), query, limits, codeOf(deps, other));
    const url = projectUrl(project.project, request.baseUrl);
    const commits = found.commits.map((commit) => commitBasic(commit, url));
    return {
      commit: commits.at(-1) ?? null,
      commits,
      diffs: found.files.map(fileDiff),
      compare_timeout: found.truncated,
      compare_same_ref: found.same,
      web_url: `${url}/-/compare/${found.base}...${found.head}`,
    };
  },
});

/**
 * The project that `from` is in; undefined when it is the project itself.
 * @throws 400 for one that is not related, or not there for the caller; 403 for one whose code they may not read
 */
async function otherProject(
  deps: ApiDeps,
  actor: Actor,
  { project: own }: ProjectAccess,
  id: number | undefined,
  asked: string,
): Promise<ProjectAccess | undefined> {
  if (id === undefined || id === own.id) return undefined;
  const [other] = await accessesTo(deps, actor, [id]);
  if (other === undefined || !related(own, other.project))
    throw refused(`Target project id:${id} is not a fork of project id:${asked}`);
  if (!can(actor, other, 'read_code')) throw forbidden("You don't have access to this fork's parent project");
  return other;
}
