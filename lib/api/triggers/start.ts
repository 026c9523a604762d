import { triggerPipeline } from '../../domain/triggers/start.ts';
import { anyone } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { pipelineBasic } from '../commits/present.ts';
import * as shapes from '../commits/shapes.ts';
import { endpoint } from '../endpoint.ts';

const fields = () => ({
  token: p.string({
    required: true,
    blank: false,
    description: 'Token of a trigger of the project, or of a job that runs',
  }),
  variables: p.hash({ description: 'Variables of the pipeline: `variables[KEY]=value`' }),
});
const ref = () => p.string({ required: true, blank: false, description: 'Branch or tag' });
const id = () => p.string({ required: true, description: 'ID or URL-encoded full path of the project' });

const common = {
  method: 'POST',
  area: 'ci-settings',
  access: anyone(),
  returns: { body: shapes.pipeline },
  errors: [
    { status: 400, description: 'No pipeline can be made, or a variable is invalid' },
    { status: 404, description: 'There is no such project, or the token is none of it' },
  ],
} as const;

const start = endpoint({
  ...common,
  path: '/projects/:id/trigger/pipeline',
  summary: 'Start a pipeline',
  description: 'It is made with the rights of the owner of the token.',
  params: () => p.params({ id: id() }),
  body: () => p.params({ ref: ref(), ...fields() }),
  handle: async ({ actor, params, body, request }, deps) => {
    const { ref, token, variables = {} } = body;
    const asked = { project: params.id, ref, token, variables };
    const { project, pipeline } = await triggerPipeline(deps, actor.origin, asked);
    return pipelineBasic(pipeline, `${request.baseUrl}/${project.fullPath}`);
  },
});

const startForRef = endpoint({
  ...common,
  path: '/projects/:id/ref/:ref/trigger/pipeline',
  summary: 'Start a pipeline of a ref in the path',
  params: () => p.params({ id: id(), ref: ref() }),
  body: () => p.params(fields()),
  handle: async ({ actor, params, body, request }, deps) => {
    const { token, variables = {} } = body;
    const asked = { project: params.id, ref: params.ref, token, variables };
    const { project, pipeline } = await triggerPipeline(deps, actor.origin, asked);
    return pipelineBasic(pipeline, `${request.baseUrl}/${project.fullPath}`);
  },
});

export const triggerStartEndpoints = [start, startForRef];
