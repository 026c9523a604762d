import { deleteProjectArtifacts } from '../../domain/artifacts/expire-project.ts';
import { project } from '../../http/access.ts';
import { accepted } from '../../http/reply.ts';
import { endpoint } from '../endpoint.ts';
import { accepted as acceptedShape } from '../meta/shapes.ts';

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/artifacts',
  area: 'projects',
  summary: 'Delete what the jobs of a project have left',
  description: [
    'Of jobs that have ended, soon afterwards. What is kept as that of the newest pipeline of a branch or tag is deleted when',
    'it is not that any more. Traces stay.',
  ].join(' '),
  access: project('destroy_artifacts'),
  returns: { status: 202, body: acceptedShape },
  handle: async ({ project }, deps) => {
    await deleteProjectArtifacts(deps, project);
    return accepted();
  },
});

export const projectArtifactEndpoints = [remove];
