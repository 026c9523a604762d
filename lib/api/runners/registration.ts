import { registerRunner, runnerOf, unregisterRunner } from '../../domain/runners/registration.ts';
import { runners } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent, reply } from '../../http/reply.ts';
import { RUNNER_ACCESS_LEVELS, type RunnerFacts } from '../../records/runners.ts';
import { endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

const area = 'runners';
const refusals = [{ status: 403, description: 'The token is of no runner' }];

/** Characters that are kept of what a runner says of itself. */
const MAX_FACT = 255;

/** What a runner says of itself. */
export const infoField = () =>
  p.object(
    {
      name: p.string({ description: 'Name of the program' }),
      version: p.string({ description: 'Its version' }),
      revision: p.string({ description: 'The commit that it was built from' }),
      platform: p.string({ description: 'Its operating system' }),
      architecture: p.string({ description: 'The architecture of its processor' }),
      features: p.hash({ description: 'What it can do beside running scripts: `true` by name' }),
    },
    { description: 'What the runner says of itself' },
  );

type Info = Readonly<Partial<Record<keyof RunnerFacts, string | null>>>;

/** Only what was sent. */
export function factsGiven(info: Info | null | undefined): Partial<RunnerFacts> {
  const names = ['name', 'version', 'revision', 'platform', 'architecture'] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = info?.[name];
      return text === undefined || text === null ? [] : [[name, text.slice(0, MAX_FACT)]];
    }),
  );
}

const NOTHING: RunnerFacts = {
  name: null,
  version: null,
  revision: null,
  platform: null,
  architecture: null,
};

const ownToken = () =>
  p.params({ token: p.string({ required: true, blank: false, description: 'Token of the runner' }) });

const register = endpoint({
  method: 'POST',
  path: '/runners',
  area,
  summary: 'Create a runner',
  description:
    'For runners. Its registration token says whether it takes jobs of the instance, of a group or of a project. The response is the only one that contains the token of the runner.',
  access: runners(),
  body: () =>
    p.params(
      {
        token: p.string({ required: true, blank: false, description: 'Registration token' }),
        description: p.string({ description: 'Description of the runner' }),
        maintainer_note: p.string({ description: 'Kept as the description where there is none' }),
        info: infoField(),
        active: p.boolean({ description: 'Whether the runner gets jobs. Default: true' }),
        paused: p.boolean({ description: 'Whether the runner gets no jobs. Default: false' }),
        locked: p.boolean({
          default: false,
          description: 'Whether only administrators may enable the runner in further projects',
        }),
        access_level: p.oneOf(RUNNER_ACCESS_LEVELS, {
          default: 'not_protected',
          description: '`ref_protected`: the runner takes jobs of protected branches and tags only',
        }),
        run_untagged: p.boolean({ default: true, description: 'Whether the runner takes jobs without tags' }),
        tag_list: p.list(p.string(), { description: 'Tags of the runner' }),
        maximum_timeout: p.integer({
          nullable: true,
          description: 'Seconds that a job may take on the runner, at least 600',
        }),
      },
      [p.mutuallyExclusive('active', 'paused')],
    ),
  returns: { body: shapes.registered },
  errors: [
    { status: 400, description: 'A value is invalid, or there are too many runners' },
    { status: 403, description: 'The token is of nothing that runners may register for' },
  ],
  handle: async ({ actor, body, request }, deps) => {
    const { runner, text } = await registerRunner(deps, actor, {
      token: body.token,
      description: body.description || (body.maintainer_note ?? ''),
      facts: { ...NOTHING, ...factsGiven(body.info) },
      paused: body.paused ?? body.active === false,
      locked: body.locked,
      accessLevel: body.access_level,
      runUntagged: body.run_untagged,
      tags: body.tag_list ?? [],
      maximumTimeout: body.maximum_timeout ?? null,
      address: request.sourceIp,
    });
    return { id: runner.id, token: text };
  },
});

const unregister = endpoint({
  method: 'DELETE',
  path: '/runners',
  area,
  summary: 'Delete a runner by its token',
  description: 'For runners.',
  access: runners(),
  body: ownToken,
  returns: { status: 204 },
  errors: refusals,
  handle: async ({ actor, body }, deps) => {
    await unregisterRunner(deps, actor, body.token);
    return noContent();
  },
});

const verify = endpoint({
  method: 'POST',
  path: '/runners/verify',
  area,
  summary: 'Check the token of a runner',
  description: 'For runners.',
  access: runners(),
  // It changes nothing.
  inMaintenance: true,
  body: ownToken,
  returns: { status: 200, type: 'application/json', description: 'The number `200`' },
  errors: refusals,
  handle: async ({ body }, deps) => {
    await runnerOf(deps, body.token);
    return reply({ body: '200', type: 'application/json' });
  },
});

export const registrationEndpoints = [register, unregister, verify];
