import { can } from '../../domain/access/permissions.ts';
import { projectAccesses } from '../../domain/access/project-accesses.ts';
import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { forbidden, refused } from '../../domain/errors.ts';
import { codeWithAlternate, related } from '../../domain/forks/network.ts';
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
    'Returns at most 1,000 commits. Diffs are limited by the settings `diff_max_files` (1,000), `diff_max_patch_bytes` ' +
    'per file (200 KB) and `diff_max_lines` (50,000), and to 4 MB in total; `compare_timeout` is true when a limit was ' +
    'reached.',
  access: project('read_code', { anonymous: true }),
  query: () =>
    p.params({
      from: p.string({
        required: true,
        description: 'Name of a branch or tag, or commit SHA to compare from',
      }),
      to: p.string({ required: true, description: 'Name of a branch or tag, or commit SHA to compare to' }),
      from_project_id: p.integer({
        description: 'Id of the project that contains `from`; default: this project',
      }),
      straight: p.boolean({
        default: false,
        description: 'Compare `from..to` directly; if false, compare from the merge base (`from...to`)',
      }),
    }),
  returns: { body: shapes.comparison },
  errors: [
    { status: 400, description: 'The projects are not related by forking' },
    { status: 403, description: "The caller may not read the other project's code" },
    { status: 404, description: 'A revision does not exist' },
  ],
  prefetch: ({ query }) => (query.from_project_id === undefined ? { revisions: [query.from, query.to] } : {}),
  handle: async ({ actor, project, params, query, request }, deps) => {
    const source = await sourceProject(deps, actor, project, query.from_project_id, params.id);
    const limits = await diffLimits(deps);
    const found =
      source === undefined
        ? await compareRefs(codeOf(deps, project), query, limits)
        : await compareRefs(codeWithAlternate(deps, project, source), query, limits, codeOf(deps, source));
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
 * The project that contains `from`; undefined when it is the project itself.
 * @throws 400 when it is not related to this project or not visible to the caller; 403 when the caller may not read its
 *   code
 */
async function sourceProject(
  deps: ApiDeps,
  actor: Actor,
  { project: own }: ProjectAccess,
  id: number | undefined,
  requestedId: string,
): Promise<ProjectAccess | undefined> {
  if (id === undefined || id === own.id) return undefined;
  const [source] = await projectAccesses(deps, actor, [id]);
  if (source === undefined || !related(own, source.project))
    throw refused(`Target project id:${id} is not a fork of project id:${requestedId}`);
  if (!can(actor, source, 'read_code'))
    throw forbidden("You don't have access to this fork's parent project");
  return source;
}
