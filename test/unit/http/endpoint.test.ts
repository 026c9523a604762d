import { describe, expect, expectTypeOf, test } from 'vitest';
import type { ProjectAccess } from '../../../lib/domain/access/types.ts';
import type { Actor } from '../../../lib/domain/actor.ts';
import { anyone, project, type SignedInActor, signedIn } from '../../../lib/http/access.ts';
import { endpoint, endpointFor, type HttpDeps } from '../../../lib/http/endpoint.ts';
import type { KeysetPage, OffsetPage } from '../../../lib/http/pagination.ts';
import {
  array,
  boolean,
  datetime,
  integer,
  object,
  oneOf,
  params,
  string,
} from '../../../lib/http/params.ts';

const common = { method: 'GET', area: 'test', summary: 'A test' } as const;

/** Checked by the compiler: `npm run check:types` fails where these do not hold. */
describe('what a handler is given', () => {
  test('path parameters by name, typed by their schema', () => {
    endpoint({
      ...common,
      path: '/projects/:id/jobs/:job_id/archive.:format',
      access: anyone(),
      params: () => params({ job_id: integer({ required: true }) }),
      handle: (context) => {
        expectTypeOf(context.params.id).toEqualTypeOf<string>();
        expectTypeOf(context.params.format).toEqualTypeOf<string>();
        expectTypeOf(context.params.job_id).toEqualTypeOf<number>();
        // @ts-expect-error: the path has no such parameter
        void context.params.other;
        expectTypeOf(context.page).toEqualTypeOf<undefined>();
        expectTypeOf(context.project).toEqualTypeOf<undefined>();
      },
    });
  });

  test('parameters: there, perhaps there, perhaps null', () => {
    endpoint({
      ...common,
      path: '/x',
      access: anyone(),
      query: () =>
        params({
          a: string({ required: true }),
          b: integer(),
          c: boolean({ default: false }),
          d: string({ nullable: true }),
          e: oneOf(['x', 'y'], { required: true, nullable: true }),
          f: array(object({ g: datetime({ required: true }) })),
        }),
      handle: ({ query }) => {
        expectTypeOf(query.a).toEqualTypeOf<string>();
        expectTypeOf(query.b).toEqualTypeOf<number | undefined>();
        expectTypeOf(query.c).toEqualTypeOf<boolean>();
        expectTypeOf(query.d).toEqualTypeOf<string | null | undefined>();
        expectTypeOf(query.e).toEqualTypeOf<'x' | 'y' | null>();
        expectTypeOf(query.f?.[0]?.g).toEqualTypeOf<Date | undefined>();
        // What is absent is left out: it fits an input with optional members.
        const input: { a: string; b?: number } = query;
        return input;
      },
    });
  });

  test('the actor and the project as the access rule has it', () => {
    const path = '/projects/:id';
    endpoint({
      ...common,
      path,
      access: signedIn(),
      handle: ({ actor }) => expectTypeOf(actor).toEqualTypeOf<SignedInActor>(),
    });
    endpoint({
      ...common,
      path,
      access: project('push_code'),
      handle: (context) => {
        expectTypeOf(context.actor).toEqualTypeOf<SignedInActor>();
        expectTypeOf(context.project).toEqualTypeOf<ProjectAccess>();
      },
    });
    endpoint({
      ...common,
      path,
      access: project('read_code', { anonymous: true }),
      handle: ({ actor }) => expectTypeOf(actor).toEqualTypeOf<Actor>(),
    });
  });

  test('the page as the declaration has it, and a page to return', () => {
    const items: number[] = [];
    endpoint({
      ...common,
      path: '/x',
      access: anyone(),
      paginate: 'offset',
      handle: ({ page }) => {
        expectTypeOf(page).toEqualTypeOf<OffsetPage>();
        return { items, total: 0 };
      },
    });
    endpoint({
      ...common,
      path: '/x',
      access: anyone(),
      paginate: 'offset+keyset',
      keyset: { marker: 'id' },
      handle: ({ page }) => {
        expectTypeOf(page).toEqualTypeOf<OffsetPage | KeysetPage>();
        return { items };
      },
    });
    // @ts-expect-error: a list that paginates answers with a page
    endpoint({ ...common, path: '/x', access: anyone(), paginate: 'offset', handle: () => items });
  });

  test('the dependencies of its service', () => {
    interface Deps extends HttpDeps {
      readonly clock: () => Date;
    }
    endpointFor<Deps>()({
      ...common,
      path: '/x',
      access: anyone(),
      handle: (_, deps) => expectTypeOf(deps).toEqualTypeOf<Deps>(),
    });
  });
});

describe('declarations', () => {
  test('schemas are built at the first request, and once', () => {
    let built = 0;
    const declared = endpoint({
      ...common,
      path: '/x',
      access: anyone(),
      query: () => {
        built++;
        return params({ a: string() });
      },
      handle: () => null,
    });
    expect(built).toBe(0);
    expect(declared.query!()).toBe(declared.query!());
    expect(built).toBe(1);
  });

  test('an endpoint about a project has its id in the path', () => {
    expect(() =>
      endpoint({ ...common, path: '/x/:project', access: project('read_project'), handle: () => null }),
    ).toThrow(TypeError);
  });

  test.each([
    ['GET', ['api', 'read_api', 'read_user']],
    ['HEAD', ['api', 'read_api', 'read_user']],
    ['POST', ['api', 'read_user']],
  ] as const)('scopes of %s', (method, scopes) => {
    const declared = endpoint({
      ...common,
      method,
      path: '/x',
      access: anyone(),
      scopes: ['read_user'],
      handle: () => null,
    });
    expect(declared.scopes).toEqual(scopes);
  });
});
