import * as attributes from '../../domain/custom-attributes/custom-attributes.ts';
import { notFound } from '../../domain/errors.ts';
import { administrator, group, project, type SignedInActor } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import type { Subject } from '../../records/subject.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

const area = 'custom-attributes';

/** Whose attributes a path is about; administrators alone get to know of them. */
interface Of<A> {
  readonly kind: Subject['kind'];
  readonly access: A;
  readonly subject: (context: Context, deps: ApiDeps) => Subject | Promise<Subject>;
}

interface Context {
  readonly actor: SignedInActor;
  readonly params: { readonly id: string };
  readonly group: { readonly group: { readonly id: number } } | undefined;
  readonly project: { readonly project: { readonly id: number } } | undefined;
}

const OF = [
  {
    kind: 'user',
    access: administrator(),
    subject: async ({ params: { id } }, { store }) => {
      const known = /^\d{1,15}$/.test(id) && (await store.users.get(Number(id))) !== undefined;
      if (!known) throw notFound('User');
      return { kind: 'user', id: Number(id) };
    },
  } satisfies Of<ReturnType<typeof administrator>>,
  {
    kind: 'group',
    access: group('read_group'),
    subject: ({ group }) => ({ kind: 'group', id: group!.group.id }),
  } satisfies Of<unknown>,
  {
    kind: 'project',
    access: project('read_project'),
    subject: ({ project }) => ({ kind: 'project', id: project!.project.id }),
  } satisfies Of<unknown>,
] as const;

export const customAttributeEndpoints = OF.flatMap(({ kind, access, subject }) => {
  const path = `/${kind}s/:id/custom_attributes` as const;
  const one = `${path}/:key` as const;
  return [
    endpoint({
      method: 'GET',
      path,
      area,
      summary: `List the custom attributes of a ${kind}`,
      access,
      returns: { body: shapes.customAttributes },
      handle: async (context, deps) =>
        attributes.listAttributes(deps, context.actor, await subject(context, deps)),
    }),
    endpoint({
      method: 'GET',
      path: one,
      area,
      summary: `Get a custom attribute of a ${kind}`,
      access,
      returns: { body: shapes.customAttribute },
      handle: async (context, deps) =>
        attributes.getAttribute(deps, context.actor, await subject(context, deps), context.params.key),
    }),
    endpoint({
      method: 'PUT',
      path: one,
      area,
      summary: `Set a custom attribute of a ${kind}`,
      access,
      body: () => p.params({ value: p.string({ required: true }) }),
      returns: { body: shapes.customAttribute },
      handle: async (context, deps) =>
        attributes.setAttribute(deps, context.actor, await subject(context, deps), {
          key: context.params.key,
          value: context.body.value,
        }),
    }),
    endpoint({
      method: 'DELETE',
      path: one,
      area,
      summary: `Remove a custom attribute of a ${kind}`,
      access,
      returns: { status: 204 },
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
