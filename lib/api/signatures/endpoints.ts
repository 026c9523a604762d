import { codeOf, resolved } from '../../domain/repository/read.ts';
import { tagOf } from '../../domain/tags/tags.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { commitSha } from '../commits/params.ts';
import { endpoint } from '../endpoint.ts';
import { commitSignature, signature } from './present.ts';
import * as shapes from './shapes.ts';

const ofCommit = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/signature',
  area: 'commits',
  summary: 'Get the signature of a commit',
  access: project('read_history', { anonymous: true }),
  params: commitSha,
  returns: { body: shapes.commitSignature },
  errors: [{ status: 404, description: 'The commit does not exist or is not signed' }],
  handle: async ({ project, params, request }, deps) => {
    // Parsers of keys and signatures, which the other endpoints of this area do without.
    const { signatureOfCommit } = await import('../../domain/signatures/verify.ts');
    const git = codeOf(deps, project);
    const { commit } = await resolved(git, params.sha);
    return commitSignature(await signatureOfCommit(deps, await git.commitBytes(commit)), request.baseUrl);
  },
});

const ofTag = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/tags/:tag_name/signature',
  area: 'tags',
  summary: 'Get the signature of a tag',
  access: project('read_code', { anonymous: true }),
  params: () => p.params({ tag_name: p.string({ required: true, description: 'Name of the tag' }) }),
  returns: { body: shapes.tagSignature },
  errors: [{ status: 404, description: 'The tag does not exist or is not signed' }],
  prefetch: ({ params }) => ({ tags: [params.tag_name] }),
  handle: async ({ project, params, request }, deps) => {
    const { signatureOfTag } = await import('../../domain/signatures/verify.ts');
    const git = codeOf(deps, project);
    const { oid } = await tagOf(git, params.tag_name);
    return signature(await signatureOfTag(deps, await git.tagBytes(oid)), request.baseUrl);
  },
});

export const signatureEndpoints = [ofCommit];
export const tagSignatureEndpoints = [ofTag];
