/** Hooks of projects, groups and the instance: URLs that are called about events. */
import { parseAllowList } from '../../outbound/allow-list.ts';
import { MAX_URL_LENGTH, urlProblem } from '../../outbound/destination.ts';
import type { GroupRecord } from '../../records/groups.ts';
import { HOOK_SWITCHES, type HookOwner, type HookRecord, type HookSwitch } from '../../records/hooks.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { Missing, Stale } from '../../store/errors.ts';
import { HOOK_TOKEN, HooksFull, secretOwner } from '../../store/hooks/hooks.ts';
import type { Write } from '../../store/table/write.ts';
import type { Actor } from '../actor.ts';
import { type Audited, auditedResource, auditedUser, prepareAudited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { conflict, notFound, recordNotFound, unprocessable } from '../errors.ts';
import { outboundAllow } from '../imports/plan.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';

/** What hooks hear of: a project, a group and what is in it, or the instance. */
export type HookPlace =
  | { readonly kind: 'project'; readonly project: ProjectRecord }
  | { readonly kind: 'group'; readonly group: GroupRecord }
  | { readonly kind: 'system' };

type SignedIn = Extract<Actor, { kind: 'user' }>;

const ownerOf = (place: HookPlace): HookOwner =>
  place.kind === 'project'
    ? { kind: 'project', id: place.project.id }
    : place.kind === 'group'
      ? { kind: 'group', id: place.group.id }
      : { kind: 'system' };

/** What is not given stays, and of a new hook is as by default. */
export interface HookInput {
  readonly url?: string | undefined;
  /** Null or empty: none. */
  readonly token?: string | null | undefined;
  readonly verifiesTls?: boolean | undefined;
  readonly branchFilter?: string | null | undefined;
  readonly switches: Readonly<Partial<Record<HookSwitch, boolean | undefined>>>;
}

/** The switches of each kind of hook; those that a new hook has on. */
export const SWITCHES_OF: Readonly<Record<HookOwner['kind'], readonly HookSwitch[]>> = {
  project: HOOK_SWITCHES.filter(
    (name) => !['subgroup_events', 'member_events', 'repository_update_events'].includes(name),
  ),
  group: HOOK_SWITCHES.filter((name) => name !== 'repository_update_events'),
  system: ['push_events', 'tag_push_events', 'merge_requests_events', 'repository_update_events'],
};
const DEFAULTS: Readonly<Record<HookOwner['kind'], readonly HookSwitch[]>> = {
  project: ['push_events'],
  group: ['push_events'],
  system: ['repository_update_events'],
};

export const listHooks = (deps: Deps, place: HookPlace): Promise<HookRecord[]> =>
  deps.store.hookRecords.of(ownerOf(place));

/** @throws `404 Not found` */
export async function getHook(deps: Deps, place: HookPlace, id: number): Promise<HookRecord> {
  const hook = await deps.store.hookRecords.get(ownerOf(place), id);
  if (hook === undefined) throw recordNotFound();
  return hook;
}

/** @throws 422 for a URL that may not be called, an invalid branch filter, or too many hooks */
export async function createHook(
  deps: Deps,
  actor: SignedIn,
  place: HookPlace,
  input: HookInput,
): Promise<HookRecord> {
  const owner = ownerOf(place);
  const [id, toEvent, url] = await Promise.all([
    deps.store.hookRecords.nextId(),
    prepareAudited(deps, actor),
    checkedUrl(deps, owner, input.url ?? ''),
  ]);
  const hook: HookRecord = {
    id,
    owner,
    url,
    switches: switched(owner, DEFAULTS[owner.kind], input),
    branchFilter: checkedFilter(input.branchFilter) ?? null,
    verifiesTls: input.verifiesTls ?? true,
    hasToken: isToken(input.token),
    failures: 0,
    disabledUntil: null,
    createdAt: deps.now().toISOString(),
    version: 1,
  };
  await refusing(async () =>
    deps.store.hookRecords.create(hook, [
      ...(await tokenWrites(deps, id, input.token ?? undefined)),
      toEvent(auditedHook(actor, place, hook, 'Added')),
    ]),
  );
  deps.settings.expire();
  return hook;
}

/** A new URL takes the token away, unless one is given: its owner gave it to the former URL alone. @throws as {@link createHook}; 404 */
export async function changeHook(
  deps: Deps,
  actor: SignedIn,
  place: HookPlace,
  id: number,
  input: HookInput,
): Promise<HookRecord> {
  const owner = ownerOf(place);
  const [toEvent, url] = await Promise.all([
    prepareAudited(deps, actor),
    input.url === undefined ? undefined : checkedUrl(deps, owner, input.url),
  ]);
  const branchFilter = checkedFilter(input.branchFilter);
  const attempt = async () => {
    const hook = await getHook(deps, place, id);
    const token = input.token === undefined && url !== undefined && url !== hook.url ? null : input.token;
    const change = {
      ...(url === undefined ? {} : { url }),
      ...(branchFilter === undefined ? {} : { branchFilter }),
      ...(input.verifiesTls === undefined ? {} : { verifiesTls: input.verifiesTls }),
      ...(token === undefined ? {} : { hasToken: isToken(token) }),
      switches: switched(owner, hook.switches, input),
    };
    return deps.store.hookRecords.change(hook, change, [
      ...(await tokenWrites(deps, id, token)),
      toEvent(auditedHook(actor, place, hook, 'Changed')),
    ]);
  };
  return refusing(() => retryOnConflict(attempt, (error) => error instanceof Stale));
}

/** @param check throws where the hook may not be deleted @throws 404 */
export async function deleteHook(
  deps: Deps,
  actor: SignedIn,
  place: HookPlace,
  id: number,
  check: (hook: HookRecord) => void,
): Promise<void> {
  const toEvent = await prepareAudited(deps, actor);
  const attempt = async () => {
    const hook = await getHook(deps, place, id);
    check(hook);
    await deps.store.hookRecords.remove(hook, [toEvent(auditedHook(actor, place, hook, 'Removed'))]);
  };
  await refusing(() => retryOnConflict(attempt, (error) => error instanceof Stale));
  deps.settings.expire();
}

/** Where hooks may be called although it is not on the public internet. */
export async function allowedFor(deps: Deps, { kind }: HookOwner): Promise<string> {
  const settings = await deps.settings.current();
  const local =
    kind === 'system'
      ? settings.allow_local_requests_from_system_hooks
      : settings.allow_local_requests_from_web_hooks_and_services;
  return outboundAllow(deps, settings, local);
}

async function checkedUrl(deps: Deps, owner: HookOwner, text: string): Promise<string> {
  const trimmed = text.trim();
  const url = trimmed.length > MAX_URL_LENGTH ? null : URL.parse(trimmed);
  if (url === null) throw unprocessable('Invalid url given');
  const allow = parseAllowList(await allowedFor(deps, owner));
  if (urlProblem(url, { allow }) !== undefined) throw unprocessable('Invalid url given');
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    throw unprocessable('Invalid url given');
  }
  return trimmed;
}

/** Characters. */
const MAX_FILTER = 255;

/** @returns null for none; undefined where nothing is given */
function checkedFilter(text: string | null | undefined): string | null | undefined {
  if (text === undefined) return undefined;
  const filter = text?.trim() ?? '';
  if (filter === '') return null;
  // What no branch is called: the characters that git forbids, apart from the star.
  if (filter.length > MAX_FILTER || /[\p{Cc} ~^:?[\\]|\.\.|@\{|\/\/|^\/|[/.]$|\.lock$/u.test(filter))
    throw unprocessable('Invalid branch filter given');
  return filter;
}

function switched(
  { kind }: HookOwner,
  before: readonly HookSwitch[],
  { switches }: HookInput,
): readonly HookSwitch[] {
  return SWITCHES_OF[kind].filter((name) => switches[name] ?? before.includes(name));
}

const isToken = (token: string | null | undefined): boolean => (token ?? '') !== '';

async function tokenWrites(
  { secrets }: Deps,
  id: number,
  token: string | null | undefined,
): Promise<Write[]> {
  if (token === undefined) return [];
  if (secrets === undefined) throw new Error('this Lambda function has no access to the master key');
  return [
    token === null || token === ''
      ? secrets.removalOf(secretOwner(id), HOOK_TOKEN)
      : await secrets.writeOf(secretOwner(id), HOOK_TOKEN, token),
  ];
}

/** The URL is not told: it may have a secret in it. */
const auditedHook = (actor: SignedIn, place: HookPlace, { id }: HookRecord, did: string): Audited => ({
  entity:
    place.kind === 'project'
      ? auditedResource('Project', place.project)
      : place.kind === 'group'
        ? auditedResource('Group', place.group)
        : auditedUser(actor.user),
  details: { custom_message: `${did} ${place.kind} hook with id ${id}` },
});

async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HooksFull) throw unprocessable('Maximum number of hooks exceeded');
    if (error instanceof Missing) throw notFound();
    if (error instanceof Stale) throw conflict('The hook was changed by other requests: try again');
    throw error;
  }
}
