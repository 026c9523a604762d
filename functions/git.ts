import { serveGit } from '../lib/api/git/serve.ts';
import { rawFunction } from '../lib/http/function.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = rawFunction((request, facts) => serveGit(request, facts, deps()), {
  area: 'git',
});
