import { pipelineJobEndpoints } from '../lib/api/jobs/endpoints.ts';
import { mergeRequestPipelineEndpoints } from '../lib/api/merge-requests/pipelines.ts';
import { pipelineEndpoints } from '../lib/api/pipelines/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { depsWithSecrets } from './deps-with-secrets.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...pipelineEndpoints, ...pipelineJobEndpoints, ...mergeRequestPipelineEndpoints],
  deps: depsWithSecrets,
});
