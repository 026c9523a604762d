import { ciVariableEndpoints } from '../lib/api/ci-variables/endpoints.ts';
import { pipelineScheduleEndpoints } from '../lib/api/pipeline-schedules/endpoints.ts';
import { triggerEndpoints } from '../lib/api/triggers/endpoints.ts';
import { apiFunction } from '../lib/http/function.ts';
import { depsWithSecrets } from './deps-with-secrets.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...ciVariableEndpoints, ...pipelineScheduleEndpoints, ...triggerEndpoints],
  deps: depsWithSecrets,
});
