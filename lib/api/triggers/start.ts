import type { Actor } from '../../domain/actor.ts';
import { triggerPipeline } from '../../domain/triggers/start.ts';
import { anyone } from '../../http/access.ts';
import { SECRET_PARAMETERS } from '../../http/credentials.ts';
import * as p from '../../http/params.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { pipelineDetail } from '../pipelines/present.ts';
import * as shapes from '../pipelines/shapes.ts';

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
  returns: { body: shapes.pipelineDetail },
  errors: [
    { status: 400, description: 'No pipeline can be made, or a variable is invalid' },
    { status: 404, description: 'There is no such project, or the token is none of it' },
  ],
} as const;

/** Bytes: jobs get a file with what was sent. */
const bodyLimit = 1 << 20;

const start = endpoint({
  ...common,
  path: '/projects/:id/trigger/pipeline',
  summary: 'Start a pipeline',
  description: 'It is made with the rights of the owner of the token.',
  bodyLimit,
  params: () => p.params({ id: id() }),
  body: () => p.withSent(p.params({ ref: ref(), ...fields() })),
  handle: ({ actor, params, body, request }, deps) =>
    started(deps, actor.origin, { ...body, ...params }, request),
});

const startForRef = endpoint({
  ...common,
  path: '/projects/:id/ref/:ref/trigger/pipeline',
  summary: 'Start a pipeline of a ref in the path',
  bodyLimit,
  params: () => p.params({ id: id(), ref: ref() }),
  body: () => p.withSent(p.params(fields())),
  handle: ({ actor, params, body, request }, deps) =>
    started(deps, actor.origin, { ...body, ...params }, request),
});

async function started(
  deps: ApiDeps,
  origin: Actor['origin'],
  { id: project, ref, token, variables = {}, sent }: Asked,
  { baseUrl }: { readonly baseUrl: string },
) {
  const payload = payloadOf({ ...sent, id: project, ref });
  const made = await triggerPipeline(deps, origin, { project, ref, token, variables, payload });
  return pipelineDetail(deps, made.access, made.pipeline, baseUrl);
}

interface Asked {
  readonly id: string;
  readonly ref: string;
  readonly token: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly sent: Readonly<Record<string, unknown>>;
}

/** What was sent, as JSON without credentials; of files their names. */
function payloadOf(sent: Readonly<Record<string, unknown>>): string {
  const shown = Object.entries(sent).filter(([name]) => name !== 'token' && !SECRET_PARAMETERS.has(name));
  return JSON.stringify(Object.fromEntries(shown), (_key, value: unknown) =>
    p.isFile(value) ? value.filename : value,
  );
}

export const triggerStartEndpoints = [start, startForRef];
