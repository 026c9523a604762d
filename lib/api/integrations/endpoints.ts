import {
  BRANCHES,
  INTEGRATIONS,
  type IntegrationKind,
  type IntegrationSlug,
  type Parameter,
  SLUGS,
} from '../../domain/integrations/catalog.ts';
import {
  dropIntegration,
  getIntegration,
  type IntegrationInput,
  type IntegrationPlace,
  listIntegrations,
  missingParameters,
  saveIntegration,
} from '../../domain/integrations/integrations.ts';
import { administrator, group, project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { INTEGRATION_SWITCHES, type IntegrationValue } from '../../records/integrations.ts';
import { endpoint } from '../endpoint.ts';
import { listedIntegration, shownIntegration } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'hooks';

const OF = [
  { base: '/projects/:id/integrations', of: 'a project', access: project('admin_integrations') },
  { base: '/projects/:id/services', of: 'a project (older path)', access: project('admin_integrations') },
  { base: '/groups/:id/integrations', of: 'a group', access: group('admin_integrations') },
  { base: '/integrations', of: 'the instance', access: administrator() },
] as const;

interface About {
  readonly project?: { readonly project: Extract<IntegrationPlace, { kind: 'project' }>['project'] };
  readonly group?: { readonly group: Extract<IntegrationPlace, { kind: 'group' }>['group'] };
}
function placeOf(context: object): IntegrationPlace {
  const { project: within, group: around } = context as About;
  if (within !== undefined) return { kind: 'project', project: within.project };
  return around === undefined ? { kind: 'system' } : { kind: 'group', group: around.group };
}

/** Every parameter of every kind, with the kinds that have it. */
const parameters = (): ReadonlyMap<
  string,
  { readonly parameter: Parameter; readonly slugs: readonly string[] }
> => {
  const all = new Map<string, { parameter: Parameter; slugs: string[] }>();
  for (const [slug, kind] of Object.entries(INTEGRATIONS) as [string, IntegrationKind][])
    for (const [name, parameter] of Object.entries(kind.parameters)) {
      const known = all.get(name) ?? { parameter, slugs: [] };
      known.slugs.push(parameter.required === true ? `${slug} (required)` : slug);
      all.set(name, known);
    }
  return all;
};

/** Characters of a value: a key file of a service account fits. */
const MAX_VALUE = 8_192;

function fieldOf({ type }: Parameter, slugs: readonly string[]) {
  const description = `Of ${slugs.join(', ')}`;
  if (type === 'boolean') return p.boolean({ description });
  if (type === 'integer') return p.integer({ description, min: 1, max: 65_535 });
  return p.string({
    nullable: true,
    maxLength: MAX_VALUE,
    description,
    ...(type === 'branches' ? { documentedValues: BRANCHES } : {}),
  });
}

const body = () =>
  p.params({
    ...Object.fromEntries(
      [...parameters()].map(([name, { parameter, slugs }]) => [name, fieldOf(parameter, slugs)]),
    ),
    ...Object.fromEntries(
      INTEGRATION_SWITCHES.map((name) => [
        name,
        p.boolean({
          description: `Whether it hears of such events: ${name.replace('_events', '').replaceAll('_', ' ')}`,
        }),
      ]),
    ),
    use_inherited_settings: p.boolean({
      description:
        'Whether the settings of the nearest group above, or of the instance, count instead of those that are given',
    }),
  });

function inputOf(given: Readonly<Record<string, IntegrationValue | undefined>>): IntegrationInput {
  return {
    values: given,
    switches: Object.fromEntries(
      INTEGRATION_SWITCHES.map((name) => [name, given[name] as boolean | undefined]),
    ),
    inherits: given['use_inherited_settings'] === true,
  };
}

const slugParam = () =>
  p.params({ slug: p.oneOf(SLUGS, { required: true, description: 'Kind of integration' }) });
const slugIn = (params: object) => (params as { readonly slug: IntegrationSlug }).slug;
const absent = { status: 404, description: 'It was never configured' };

export const integrationEndpoints = OF.flatMap(({ base, of, access }) => [
  endpoint({
    method: 'GET',
    path: base,
    area,
    summary: `List the active integrations of ${of}`,
    access,
    returns: { body: shapes.integrations },
    paginate: 'offset',
    handle: async ({ page, ...context }, deps) => {
      const all = await listIntegrations(deps, placeOf(context));
      const shown = all.slice(page.offset, page.offset + page.perPage);
      return { items: shown.map(listedIntegration), total: all.length };
    },
  }),
  endpoint({
    method: 'GET',
    path: `${base}/:slug`,
    area,
    summary: `Get an integration of ${of}`,
    access,
    params: slugParam,
    returns: { body: shapes.integration },
    errors: [absent],
    handle: async ({ params, ...context }, deps) =>
      shownIntegration(await getIntegration(deps, placeOf(context), slugIn(params))),
  }),
  endpoint({
    method: 'PUT',
    path: `${base}/:slug`,
    area,
    summary: `Set up an integration of ${of}`,
    description:
      'Creates or changes it, and makes it active. Secrets are sealed, and never shown; another address of its server takes those away that are not given with it.',
    access,
    params: () => p.params({ slug: p.routeWord(SLUGS, { description: 'Kind of integration' }) }),
    body,
    returns: { body: shapes.integration },
    errors: [
      { status: 400, description: 'A required value is missing, or one of them is not valid' },
      { status: 409, description: 'It was changed by other requests' },
    ],
    handle: async ({ actor, params, body: given, ...context }, deps) => {
      const slug = slugIn(params);
      const input = inputOf(given as Readonly<Record<string, IntegrationValue | undefined>>);
      const missing = missingParameters(slug, input);
      if (missing.length > 0) throw p.parameterFailure(missing.map((name) => `${name} is missing`));
      const place = placeOf(context);
      const integration = await saveIntegration(deps, actor, place, slug, input);
      if (integration.inherits) return shownIntegration(await getIntegration(deps, place, slug));
      return shownIntegration({ integration, inherited: false });
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${base}/:slug`,
    area,
    summary: `Delete an integration of ${of}`,
    description: 'It becomes inactive, and what it was given is deleted.',
    access,
    params: slugParam,
    returns: { status: 204 },
    handle: async ({ actor, params, unmodifiedSince, ...context }, deps) => {
      await dropIntegration(deps, actor, placeOf(context), slugIn(params), ({ updatedAt }) =>
        unmodifiedSince(updatedAt),
      );
      return noContent();
    },
  }),
]);
