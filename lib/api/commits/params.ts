import * as p from '../../http/params.ts';

/** The path parameter `:sha`, which may name a branch or tag too. */
export const commitSha = () =>
  p.params({
    sha: p.string({ required: true, description: 'SHA of the commit, or name of a branch or tag' }),
  });
