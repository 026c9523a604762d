import { codeOf, resolved } from '../../domain/repository/read.ts';
import { project } from '../../http/access.ts';
import { commitSha } from '../commits/params.ts';
import { endpoint } from '../endpoint.ts';
import { signature } from './present.ts';
import * as shapes from './shapes.ts';

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/signature',
  area: 'commits',
  summary: 'Get the signature of a commit',
  access: project('read_history', { anonymous: true }),
  params: commitSha,
  returns: { body: shapes.signature },
  errors: [{ status: 404, description: 'The commit does not exist or is not signed' }],
  handle: async ({ project, params, request }, deps) => {
    // Parsers of keys and signatures, which the other endpoints of this area do without.
    const { signatureOf } = await import('../../domain/signatures/verify.ts');
    const git = codeOf(deps, project);
    const { commit } = await resolved(git, params.sha);
    return signature(await signatureOf(deps, await git.commitBytes(commit)), request.baseUrl);
  },
});

export const signatureEndpoints = [get];
