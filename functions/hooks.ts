import { hookEndpoints } from '../lib/api/hooks/endpoints.ts';
import { integrationEndpoints } from '../lib/api/integrations/endpoints.ts';
import { slashCommandEndpoints } from '../lib/api/integrations/slash-commands.ts';
import { apiFunction } from '../lib/http/function.ts';
import { depsWithSecrets } from './deps-with-secrets.ts';

export const { handler, fetch } = apiFunction({
  endpoints: [...hookEndpoints, ...integrationEndpoints, ...slashCommandEndpoints],
  deps: depsWithSecrets,
});
