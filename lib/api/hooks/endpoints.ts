import type { HookInput } from '../../domain/hooks/hooks.ts';
import * as hooks from '../../domain/hooks/hooks.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { HOOK_SWITCHES, type HookSwitch } from '../../records/hooks.ts';
import { endpoint } from '../endpoint.ts';
import { deliveryEndpoints } from './deliveries.ts';
import { absent, area, HOOKS_OF, placeOf } from './kinds.ts';
import { shownHook } from './present.ts';
import * as shapes from './shapes.ts';

const refused = [
  { status: 400, description: 'The URL is missing' },
  { status: 422, description: 'The URL or the filter is invalid, or there are too many hooks' },
];

const ABOUT: Readonly<Record<HookSwitch, string>> = {
  push_events: 'pushes to branches',
  tag_push_events: 'tags that are pushed or deleted',
  issues_events: 'issues',
  confidential_issues_events: 'confidential issues',
  merge_requests_events: 'merge requests',
  note_events: 'notes',
  confidential_note_events: 'notes that not all members see',
  job_events: 'jobs',
  pipeline_events: 'pipelines',
  wiki_page_events: 'pages of wikis',
  deployment_events: 'deployments',
  releases_events: 'releases',
  subgroup_events: 'groups that are created or deleted in the group',
  member_events: 'members of the group',
  repository_update_events: 'pushes, once for all refs',
};
const switchFields = () =>
  Object.fromEntries(
    HOOK_SWITCHES.map((name) => [name, p.boolean({ description: `Whether it hears of ${ABOUT[name]}` })]),
  ) as Readonly<Record<HookSwitch, ReturnType<typeof p.boolean<{ description: string }>>>>;

const fields = () => ({
  token: p.string({
    nullable: true,
    maxLength: 2048,
    description: 'Secret that is sent with each call; it is never shown',
  }),
  enable_ssl_verification: p.boolean({
    description: 'Whether the certificate of the receiver has to be valid. Default: true',
  }),
  push_events_branch_filter: p.string({
    nullable: true,
    description: 'Branches whose pushes it hears of: a name, or a pattern with `*`',
  }),
  ...switchFields(),
});
const created = () =>
  p.params({
    url: p.string({ required: true, description: 'URL that is called, http or https' }),
    ...fields(),
  });
const changed = () =>
  p.params({
    url: p.string({ description: 'URL that is called; another one takes the token away' }),
    ...fields(),
  });

type Body = Readonly<Partial<Record<HookSwitch, boolean | undefined>>> & {
  readonly url?: string | undefined;
  readonly token?: string | null | undefined;
  readonly enable_ssl_verification?: boolean | undefined;
  readonly push_events_branch_filter?: string | null | undefined;
};
const inputOf = (body: Body): HookInput => ({
  url: body.url,
  token: body.token,
  verifiesTls: body.enable_ssl_verification,
  branchFilter: body.push_events_branch_filter,
  switches: Object.fromEntries(HOOK_SWITCHES.map((name) => [name, body[name]])),
});

const changeEndpoints = HOOKS_OF.flatMap(({ path, of, access, param }) => {
  const one = `${path}/:${param}`;
  const hookId = () => p.params({ [param]: p.integer({ required: true, description: 'ID of the hook' }) });
  const idIn = (params: object) => (params as Readonly<Record<string, number>>)[param]!;
  return [
    endpoint({
      method: 'GET',
      path,
      area,
      summary: `List the hooks of ${of}`,
      access,
      returns: { body: shapes.hooks },
      paginate: 'offset',
      handle: async ({ page, ...context }, deps) => {
        const all = await hooks.listHooks(deps, placeOf(context));
        const shown = all.slice(page.offset, page.offset + page.perPage);
        return { items: shown.map((hook) => shownHook(hook, deps.now())), total: all.length };
      },
    }),
    endpoint({
      method: 'GET',
      path: one,
      area,
      summary: `Get a hook of ${of}`,
      access,
      params: hookId,
      returns: { body: shapes.hook },
      errors: [absent],
      handle: async ({ params, ...context }, deps) =>
        shownHook(await hooks.getHook(deps, placeOf(context), idIn(params)), deps.now()),
    }),
    endpoint({
      method: 'POST',
      path,
      area,
      summary: `Create a hook of ${of}`,
      access,
      body: created,
      returns: { body: shapes.hook },
      errors: refused,
      handle: async ({ actor, body, ...context }, deps) =>
        shownHook(await hooks.createHook(deps, actor, placeOf(context), inputOf(body)), deps.now()),
    }),
    endpoint({
      method: 'PUT',
      path: one,
      area,
      summary: `Update a hook of ${of}`,
      access,
      params: hookId,
      body: changed,
      returns: { body: shapes.hook },
      errors: [...refused, absent, { status: 409, description: 'It was changed by other requests' }],
      handle: async ({ actor, params, body, ...context }, deps) => {
        const hook = await hooks.changeHook(deps, actor, placeOf(context), idIn(params), inputOf(body));
        return shownHook(hook, deps.now());
      },
    }),
    endpoint({
      method: 'DELETE',
      path: one,
      area,
      summary: `Delete a hook of ${of}`,
      access,
      params: hookId,
      returns: { status: 204 },
      errors: [absent],
      handle: async ({ actor, params, unmodifiedSince, ...context }, deps) => {
        await hooks.deleteHook(deps, actor, placeOf(context), idIn(params), ({ createdAt }) =>
          unmodifiedSince(createdAt),
        );
        return noContent();
      },
    }),
  ];
});

export const hookEndpoints = [...changeEndpoints, ...deliveryEndpoints];
