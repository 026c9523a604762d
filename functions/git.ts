import { serveGit } from '../lib/api/git/serve.ts';
import { rawFunction } from '../lib/http/function.ts';
import { throttled } from '../lib/http/throttle.ts';
import { deps } from './deps.ts';

export const { handler, fetch } = rawFunction(
  throttled(deps, (request, facts, admission) => serveGit(request, facts, deps(), admission)),
  { area: 'git' },
);
