import * as attributes from '../../domain/custom-attributes/custom-attributes.ts';
import { notFound } from '../../domain/errors.ts';
import { administrator, group, project, type SignedInActor } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import type { Subject } from '../../records/subject.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

const area = 'project-relations';

/** A kind of owner of custom attributes; only administrators may read or change them. */
interface OwnerKind<A> {
  readonly kind: Subject['kind'];
  /** Description of the path parameter `:id`. */
  readonly id: string;
  readonly access: A;
  readonly subject: (context: Context, deps: ApiDeps) => Subject | Promise<Subject>;
}

interface Context {
  readonly actor: SignedInActor;
  readonly params: { readonly id: string };
  readonly group: { readonly group: { readonly id: number } } | undefined;
  readonly project: { readonly project: { readonly id: number } } | undefined;
}

const OWNER_KINDS = [
  {
    kind: 'user',
    id: 'ID of the user',
    access: administrator(),
    subject: async ({ params: { id } }, { store }) => {
      const exists = /^\d{1,15}$/.test(id) && (await store.users.get(Number(id))) !== undefined;
      if (!exists) throw notFound('User');
      return { kind: 'user', id: Number(id) };
    },
  } satisfies OwnerKind<ReturnType<typeof administrator>>,
  {
    kind: 'group',
    id: 'ID or URL-encoded full path of the group',
    access: group('read_group'),
    subject: ({ group }) => ({ kind: 'group', id: group!.group.id }),
  } satisfies OwnerKind<unknown>,
  {
    kind: 'project',
    id: 'ID or URL-encoded full path of the project',
    access: project('read_project'),
    subject: ({ project }) => ({ kind: 'project', id: project!.project.id }),
  } satisfies OwnerKind<unknown>,
] as const;

export const customAttributeEndpoints = OWNER_KINDS.flatMap(({ kind, id, access, subject }) => {
  const path = `/${kind}s/:id/custom_attributes` as const;
  const itemPath = `${path}/:key` as const;
  const errors = [{ status: 404, description: `The ${kind} or the attribute does not exist` }];
  const ownerFields = () => ({ id: p.string({ required: true, description: id }) });
  const params = () => p.params(ownerFields());
  const itemParams = () =>
    p.params({
      ...ownerFields(),
      key: p.string({ required: true, description: 'Key of the custom attribute' }),
    });
  return [
    endpoint({
      method: 'GET',
      path,
      area,
      summary: `List the custom attributes of a ${kind}`,
      access,
      params,
      returns: { body: shapes.customAttributes },
      errors,
      handle: async (context, deps) =>
        attributes.listAttributes(deps, context.actor, await subject(context, deps)),
    }),
    endpoint({
      method: 'GET',
      path: itemPath,
      area,
      summary: `Get a custom attribute of a ${kind}`,
      access,
      params: itemParams,
      returns: { body: shapes.customAttribute },
      errors,
      handle: async (context, deps) =>
        attributes.getAttribute(deps, context.actor, await subject(context, deps), context.params.key),
    }),
    endpoint({
      method: 'PUT',
      path: itemPath,
      area,
      summary: `Set a custom attribute of a ${kind}`,
      access,
      params: itemParams,
      body: () =>
        p.params({ value: p.string({ required: true, description: 'Value of the custom attribute' }) }),
      returns: { body: shapes.customAttribute },
      errors,
      handle: async (context, deps) =>
        attributes.setAttribute(deps, context.actor, await subject(context, deps), {
          key: context.params.key,
          value: context.body.value,
        }),
    }),
    endpoint({
      method: 'DELETE',
      path: itemPath,
      area,
      summary: `Delete a custom attribute of a ${kind}`,
      access,
      params: itemParams,
      returns: { status: 204 },
      errors,
      handle: async (context, deps) => {
        await attributes.removeAttribute(
          deps,
          context.actor,
          await subject(context, deps),
          context.params.key,
        );
        return noContent();
      },
    }),
  ];
});
