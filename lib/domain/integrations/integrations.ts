/** Integrations of projects, groups and the instance: how they are configured, and which of them counts. */
import { parseAllowList } from '../../outbound/allow-list.ts';
import { MAX_URL_LENGTH, urlProblem } from '../../outbound/destination.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type {
  IntegrationOwner,
  IntegrationRecord,
  IntegrationSwitch,
  IntegrationValue,
} from '../../records/integrations.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { Missing, Stale } from '../../store/errors.ts';
import { secretOwnerOf } from '../../store/integrations/integrations.ts';
import type { Write } from '../../store/table/write.ts';
import type { Actor } from '../actor.ts';
import { AUDITED_INSTANCE, type Audited, auditedResource, prepareAudited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { conflict, notFound, refused } from '../errors.ts';
import { outboundAllow } from '../imports/plan.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { BRANCHES, type IntegrationSlug, isSecret, kindOf, type Parameter } from './catalog.ts';
import { type Effective, effectiveOf, ownersAbove } from './effective.ts';

/** What has integrations. */
export type IntegrationPlace =
  | { readonly kind: 'project'; readonly project: ProjectRecord }
  | { readonly kind: 'group'; readonly group: GroupRecord }
  | { readonly kind: 'system' };

/** What is not given stays as it is, and is as by default of a new integration. */
export interface IntegrationInput {
  readonly values: Readonly<Record<string, IntegrationValue | undefined>>;
  readonly switches: Readonly<Partial<Record<IntegrationSwitch, boolean | undefined>>>;
  /** Whether the settings of the nearest group above, or of the instance, count instead. */
  readonly inherits: boolean;
}

const ownerOf = (place: IntegrationPlace): IntegrationOwner => {
  if (place.kind === 'system') return place;
  return place.kind === 'project'
    ? { kind: 'project', id: place.project.id }
    : { kind: 'group', id: place.group.id };
};

/** The place, and those above it, the nearest first. */
function ownersFrom(place: IntegrationPlace): IntegrationOwner[] {
  const own = ownerOf(place);
  if (place.kind === 'system') return [own];
  const { ancestorIds } = place.kind === 'project' ? place.project : place.group;
  return [own, ...ownersAbove(ancestorIds)];
}

/** The integrations that are active. */
export async function listIntegrations(deps: Deps, place: IntegrationPlace): Promise<Effective[]> {
  const { integrations } = deps.store;
  const owners = ownersFrom(place);
  const lists = await Promise.all(owners.map((owner) => integrations.of(owner)));
  return effectiveOf(lists).filter(({ integration }) => integration.active);
}

/** @throws `404 Integration Not Found` where it was never configured */
export async function getIntegration(
  deps: Deps,
  place: IntegrationPlace,
  slug: IntegrationSlug,
): Promise<Effective> {
  const { effective } = await read(deps, place, slug);
  if (effective === undefined) throw notFound('Integration');
  return effective;
}

/** Its own, and what counts. */
async function read(deps: Deps, place: IntegrationPlace, slug: IntegrationSlug) {
  const { integrations } = deps.store;
  const owners = ownersFrom(place);
  const found = await Promise.all(owners.map((owner) => integrations.get(owner, slug)));
  const [effective] = effectiveOf(found.map((one) => (one === undefined ? [] : [one])));
  return { own: found[0], effective };
}

/** Names of parameters that have to be given and are not. */
export function missingParameters(slug: IntegrationSlug, { values, inherits }: IntegrationInput): string[] {
  if (inherits) return [];
  return Object.entries(kindOf(slug).parameters).flatMap(([name, { required }]) =>
    required === true && values[name] === undefined ? [name] : [],
  );
}

/** Configures an integration, and makes it active. @throws `400 Bad Request` for values that it cannot work with */
export async function saveIntegration(
  deps: Deps,
  actor: Actor,
  place: IntegrationPlace,
  slug: IntegrationSlug,
  input: IntegrationInput,
): Promise<IntegrationRecord> {
  const owner = ownerOf(place);
  const [toEvent] = await Promise.all([prepareAudited(deps, actor), check(deps, slug, input)]);
  const attempt = async () => {
    const { integrations } = deps.store;
    const before = await integrations.get(owner, slug);
    const now = deps.now().toISOString();
    const id = before?.id ?? (await integrations.nextId());
    const changed = input.inherits
      ? { properties: {}, secrets: [], writes: [] }
      : await applied(deps, id, slug, input, before);
    const next: IntegrationRecord = {
      id,
      owner,
      slug,
      active: true,
      inherits: input.inherits,
      off: switchedOff(slug, before, input),
      properties: changed.properties,
      secrets: changed.secrets,
      createdAt: before?.createdAt ?? now,
      updatedAt: now,
      version: (before?.version ?? 0) + 1,
    };
    const gone = (before?.secrets ?? []).filter((name) => !next.secrets.includes(name));
    await integrations.save(before, next, [
      ...changed.writes,
      ...removals(deps, id, gone),
      toEvent(auditedIntegration(place, slug, 'Changed')),
    ]);
    return next;
  };
  return finished(deps, place, () => retryOnConflict(attempt, (error) => error instanceof Stale));
}

/**
 * Makes an integration inactive, and forgets what it was given. One of a group above counts no more. Of one that is not
 * active nothing is left to do.
 * @param check throws where it may not be changed
 */
export async function dropIntegration(
  deps: Deps,
  actor: Actor,
  place: IntegrationPlace,
  slug: IntegrationSlug,
  check: (integration: IntegrationRecord) => void,
): Promise<void> {
  const toEvent = await prepareAudited(deps, actor);
  const attempt = async () => {
    const { integrations } = deps.store;
    const { own: before, effective } = await read(deps, place, slug);
    if (effective?.integration.active !== true) return;
    check(before ?? effective.integration);
    const now = deps.now().toISOString();
    const next: IntegrationRecord = {
      id: before?.id ?? (await integrations.nextId()),
      owner: ownerOf(place),
      slug,
      active: false,
      inherits: false,
      off: before?.off ?? [],
      properties: {},
      secrets: [],
      createdAt: before?.createdAt ?? now,
      updatedAt: now,
      version: (before?.version ?? 0) + 1,
    };
    await integrations.save(before, next, [
      ...removals(deps, next.id, before?.secrets ?? []),
      toEvent(auditedIntegration(place, slug, 'Removed')),
    ]);
  };
  await finished(deps, place, () => retryOnConflict(attempt, (error) => error instanceof Stale));
}

/** Properties and secrets after a change. A server with another address is not sent the secrets of the former one. */
async function applied(
  { secrets }: Deps,
  id: number,
  slug: IntegrationSlug,
  { values }: IntegrationInput,
  before: IntegrationRecord | undefined,
) {
  if (secrets === undefined) throw new Error('this Lambda function has no access to the master key');
  const properties: Record<string, IntegrationValue> = { ...before?.properties };
  const given = Object.entries(kindOf(slug).parameters).filter(([name]) => values[name] !== undefined);
  let moved = false;
  for (const [name, parameter] of given) {
    if (isSecret(parameter)) continue;
    const value = tidy(values[name]!);
    if (parameter.type === 'url' && value !== (before?.properties[name] ?? null)) moved = true;
    if (value === null) delete properties[name];
    else properties[name] = value;
  }
  const sealed = new Set(moved ? [] : before?.secrets);
  const writes: Write[] = [];
  for (const [name, parameter] of given) {
    if (!isSecret(parameter)) continue;
    const value = tidy(values[name]!);
    if (value === null) sealed.delete(name);
    else {
      sealed.add(name);
      writes.push(await secrets.writeOf(secretOwnerOf({ id }), name, String(value)));
    }
  }
  return { properties, secrets: [...sealed].sort(), writes };
}

const removals = ({ secrets }: Deps, id: number, names: readonly string[]): Write[] =>
  names.map((name) => secrets!.removalOf(secretOwnerOf({ id }), name));

/** Blank is none. */
const tidy = (value: IntegrationValue): IntegrationValue =>
  typeof value === 'string' && value.trim() === '' ? null : typeof value === 'string' ? value.trim() : value;

const switchedOff = (
  slug: IntegrationSlug,
  before: IntegrationRecord | undefined,
  { switches }: IntegrationInput,
): readonly IntegrationSwitch[] => {
  const off = new Set(before?.off);
  for (const [name, on] of Object.entries(switches) as [IntegrationSwitch, boolean | undefined][]) {
    if (on === undefined || !switchesOf(slug).includes(name)) continue;
    if (on) off.delete(name);
    else off.add(name);
  }
  return [...off].sort();
};

/** The switches that an integration has: every one takes that of pushes. */
const switchesOf = (slug: IntegrationSlug): readonly IntegrationSwitch[] => [
  'push_events',
  ...(slug === 'jira' ? (['comment_on_event_enabled'] as const) : []),
  ...kindOf(slug).hears,
];

const unfit = () => refused('400 Bad Request');

async function check(deps: Deps, slug: IntegrationSlug, { values, inherits }: IntegrationInput) {
  if (inherits) return;
  const settings = await deps.settings.current();
  const allow = parseAllowList(outboundAllow(deps, settings));
  for (const [name, parameter] of Object.entries(kindOf(slug).parameters)) {
    const value = values[name];
    if (value === undefined) continue;
    const tidied = tidy(value);
    if (tidied === null ? parameter.required === true : !isFit(parameter, tidied, allow)) throw unfit();
  }
}

/** Addresses that mail is sent to. */
const MAX_RECIPIENTS = 750;

function isFit(
  { type }: Parameter,
  value: Exclude<IntegrationValue, null>,
  allow: ReturnType<typeof parseAllowList>,
): boolean {
  if (typeof value !== 'string') return true;
  if (type === 'branches') return (BRANCHES as readonly string[]).includes(value);
  if (type === 'recipients') return recipientsOf(value).length <= MAX_RECIPIENTS;
  if (type !== 'url' && type !== 'link') return true;
  const url = value.length > MAX_URL_LENGTH ? null : URL.parse(value);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false;
  return type === 'link' || urlProblem(url, { allow }) === undefined;
}

/** The addresses of a list that is separated by spaces, commas or line breaks. */
export const recipientsOf = (text: string): string[] => [
  ...new Set(text.split(/[\s,;]+/).filter((address) => address !== '')),
];

const auditedIntegration = (place: IntegrationPlace, slug: string, did: string): Audited => ({
  entity:
    place.kind === 'system'
      ? AUDITED_INSTANCE
      : place.kind === 'project'
        ? auditedResource('Project', place.project)
        : auditedResource('Group', place.group),
  details: { custom_message: `${did} integration ${slug}` },
});

async function finished<T>(deps: Deps, place: IntegrationPlace, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Missing) throw notFound(place.kind === 'project' ? 'Project' : 'Group');
    if (error instanceof Stale) throw conflict('The integration was changed by other requests: try again');
    throw error;
  } finally {
    // How many integrations groups and the instance have is read with the settings.
    if (place.kind !== 'project') deps.settings.expire();
  }
}
