import * as variables from '../../domain/ci-variables/ci-variables.ts';
import { placeOf, placeOfInstance, type VariablePlace } from '../../domain/ci-variables/places.ts';
import { administrator, group, project, type SignedInActor } from '../../http/access.ts';
import type { Field } from '../../http/params.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { VARIABLE_TYPES } from '../../records/ci-variables.ts';
import { endpoint } from '../endpoint.ts';
import { instanceVariable, scopedVariable } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'ci-settings';

type Places = Parameters<typeof placeOf>[0];

/** What the access rule of the endpoint loaded. */
interface Found {
  readonly actor: SignedInActor;
  readonly project?: Extract<Places, { project: unknown }> | undefined;
  readonly group?: Extract<Places, { group: unknown }> | undefined;
}

/** Variables of the instance have no environment scope: they are for all jobs. */
const KINDS = {
  project: {
    path: '/projects/:id/variables',
    of: 'a project',
    access: project('admin_builds'),
    shape: shapes.variable,
    list: shapes.variables,
    present: scopedVariable,
    placeOf: ({ project }: Found): VariablePlace => placeOf(project!),
  },
  group: {
    path: '/groups/:id/variables',
    of: 'a group',
    access: group('admin_group_variables'),
    shape: shapes.variable,
    list: shapes.variables,
    present: scopedVariable,
    placeOf: ({ group }: Found): VariablePlace => placeOf(group!),
  },
  instance: {
    path: '/admin/ci/variables',
    of: 'the instance',
    access: administrator(),
    shape: shapes.instanceVariable,
    list: shapes.instanceVariables,
    present: instanceVariable,
    placeOf: ({ actor }: Found): VariablePlace => placeOfInstance(actor),
  },
} as const;
type Kind = keyof typeof KINDS;

const absent = { status: 404, description: 'There is no such variable' };
const several = { status: 409, description: 'Several scopes have the key: `filter` chooses one' };

const fields = (kind: Kind) => ({
  variable_type: p.oneOf(VARIABLE_TYPES, {
    description: '`file`: jobs get the path of a file with the value. Default: `env_var`',
  }),
  protected: p.boolean({ description: 'Only for jobs of protected branches and tags' }),
  masked: p.boolean({
    description: 'Hide the value in traces: one line of at least 8 of `a-zA-Z0-9_+=/@:.~-`',
  }),
  raw: p.boolean({ description: 'References to other variables in the value stay text' }),
  ...(kind === 'instance' ? {} : { environment_scope: scope() }),
});
const scope = () =>
  p.string({ description: 'Environments of the jobs, with `*` for any characters. Default: `*`, all jobs' });

interface Fields {
  readonly variable_type?: (typeof VARIABLE_TYPES)[number];
  readonly protected?: boolean;
  readonly masked?: boolean;
  readonly raw?: boolean;
  readonly environment_scope?: string;
}
const inputOf = (body: Fields) => ({
  type: body.variable_type,
  protected: body.protected,
  masked: body.masked,
  raw: body.raw,
  environmentScope: body.environment_scope,
});

interface Filter {
  readonly filter?: { readonly environment_scope?: string | undefined };
}
const filter = (kind: Kind) =>
  (kind === 'instance'
    ? {}
    : {
        filter: p.object(
          { environment_scope: p.string({ description: 'Environment scope of the variable' }) },
          { description: 'Chooses one of several variables with the same key' },
        ),
      }) as { filter: Field<Filter['filter']> };

const keyParam = () => p.params({ key: p.string({ required: true, description: 'Key of the variable' }) });

const of = (kind: Kind) => {
  const { path, of, access, shape, list, present, placeOf } = KINDS[kind];
  return [
    endpoint({
      method: 'GET',
      path,
      area,
      summary: `List the variables of ${of}`,
      access,
      returns: { body: list },
      paginate: 'offset',
      handle: async (found, deps) => {
        const { page } = found;
        const all = await variables.listVariables(deps, placeOf(found).owner);
        const shown = all.slice(page.offset, page.offset + page.perPage);
        return { items: shown.map(present), total: all.length };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:key`,
      area,
      summary: `Get a variable of ${of}`,
      access,
      params: keyParam,
      query: () => p.params(filter(kind)),
      returns: { body: shape },
      errors: [absent, ...(kind === 'instance' ? [] : [several])],
      handle: async ({ params, query, ...found }, deps) => {
        const wanted = (query as Filter).filter?.environment_scope;
        return present(await variables.getVariable(deps, placeOf(found).owner, params.key, wanted));
      },
    }),
    endpoint({
      method: 'POST',
      path,
      area,
      summary: `Create a variable of ${of}`,
      access,
      body: () =>
        p.params({
          key: p.string({ required: true, description: 'At most 255 letters, digits and `_`' }),
          value: p.string({ required: true, description: 'At most 10,000 characters' }),
          ...fields(kind),
        }),
      returns: { body: shape },
      errors: [{ status: 400, description: 'A value is invalid, the key is taken, or there are too many' }],
      handle: async ({ actor, body, ...found }, deps) => {
        const input = { key: body.key, value: body.value, ...inputOf(body as Fields) };
        return present(await variables.createVariable(deps, actor, placeOf({ actor, ...found }), input));
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${path}/:key`,
      area,
      summary: `Update a variable of ${of}`,
      access,
      params: keyParam,
      body: () =>
        p.params({
          value: p.string({ description: 'At most 10,000 characters' }),
          ...fields(kind),
          ...filter(kind),
        }),
      returns: { body: shape },
      errors: [
        { status: 400, description: 'A value is invalid, or the scope has another variable of the key' },
        absent,
        several,
      ],
      handle: async ({ actor, params, body, ...found }, deps) => {
        const wanted = (body as Filter).filter?.environment_scope;
        const input = { value: body.value, ...inputOf(body as Fields) };
        const place = placeOf({ actor, ...found });
        return present(await variables.changeVariable(deps, actor, place, params.key, wanted, input));
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/:key`,
      area,
      summary: `Delete a variable of ${of}`,
      access,
      params: keyParam,
      query: () => p.params(filter(kind)),
      returns: { status: 204 },
      errors: [absent, several],
      handle: async ({ actor, params, query, ...found }, deps) => {
        const wanted = (query as Filter).filter?.environment_scope;
        const place = placeOf({ actor, ...found });
        await variables.removeVariable(deps, actor, place, params.key, wanted);
        return noContent();
      },
    }),
  ];
};

export const ciVariableEndpoints = [...of('project'), ...of('group'), ...of('instance')];
