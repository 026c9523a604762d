import { downloadSnapshot } from '../../domain/repository/snapshots.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { endpoint } from '../endpoint.ts';
import { download, LARGE_DOWNLOAD } from '../files/download.ts';

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/snapshot',
  area: 'repository',
  summary: 'Download a snapshot of a repository',
  description: 'A tape archive of a bare Git repository, for administrators.',
  access: project('read_project'),
  query: () => p.params({ wiki: p.boolean({ default: false, description: 'Take the wiki of the project' }) }),
  returns: { type: 'application/x-tar', headers: ['Content-Disposition'], redirect: LARGE_DOWNLOAD },
  errors: [
    { status: 403, description: 'The caller is not an administrator' },
    { status: 413, description: 'The repository is too large' },
  ],
  handle: async ({ actor, project, query, request }, deps) => {
    const headOnly = request.method === 'HEAD';
    const content = await downloadSnapshot(deps, actor, project, { wiki: query.wiki, headOnly });
    return download(deps, content, {
      type: 'application/x-tar',
      disposition: 'attachment; filename="snapshot.tar"',
      headers: { 'Cache-Control': 'private', 'Content-Transfer-Encoding': 'binary' },
    });
  },
});

export const snapshotEndpoints = [get];
