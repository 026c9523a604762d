import { codeOf } from '../../domain/code.ts';
import { compareRefs } from '../../domain/compare.ts';
import { refused } from '../../domain/errors.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { commitBasic, fileDiff } from '../commits/present.ts';
import { endpoint } from '../endpoint.ts';
import { projectUrl } from '../projects/present.ts';
import * as shapes from './shapes.ts';

export const compare = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/compare',
  area: 'repository',
  summary: 'Compare two branches, tags or commits',
  description:
    'At most 1,000 commits and 1,000 files, with 4 MB of text in all and 200 KB for one; `compare_timeout` says that ' +
    'something was left out.',
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
    { status: 404, description: 'No such revision' },
  ],
  handle: async ({ project, params, query, request }, deps) => {
    const { id } = project.project;
    const other = query.from_project_id;
    // Forks do not exist yet, so a project's network is itself.
    if (other !== undefined && other !== id)
      throw refused(`Target project id:${other} is not a fork of project id:${params.id}`);
    const found = await compareRefs(codeOf(deps, project), query);
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
