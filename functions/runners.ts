import { runnerArtifactEndpoints } from '../lib/api/artifacts/for-runners.ts';
import { jobRequestEndpoints } from '../lib/api/job-requests/endpoints.ts';
import { runnerJobEndpoints } from '../lib/api/jobs/of-runner.ts';
import { runnerEndpoints } from '../lib/api/runners/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { depsWithSecrets } from './deps-with-secrets.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...runnerEndpoints, ...runnerJobEndpoints, ...jobRequestEndpoints, ...runnerArtifactEndpoints],
  deps: depsWithSecrets,
});
