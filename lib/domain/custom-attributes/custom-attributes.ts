/** Custom attributes of users, groups and projects; only administrators see, set and search them. */

import type { Subject } from '../../records/subject.ts';
import { type Attributes, MAX_ATTRIBUTES } from '../../store/custom-attributes/custom-attributes.ts';
import { LimitReached, Missing, Stale } from '../../store/errors.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { badRequest, conflict, forbidden, invalid, notFound } from '../errors.ts';

export interface CustomAttribute {
  readonly key: string;
  readonly value: string;
}

const MAX_LENGTH = 255;

/** @throws 403 */
function requireAdministrator(actor: Actor): void {
  if (!isAdministrator(actor)) throw forbidden();
}

export async function listAttributes(deps: Deps, actor: Actor, subject: Subject): Promise<CustomAttribute[]> {
  requireAdministrator(actor);
  return listed(await deps.store.customAttributes.get(subject));
}

/** @throws 404 */
export async function getAttribute(
  deps: Deps,
  actor: Actor,
  subject: Subject,
  key: string,
): Promise<CustomAttribute> {
  const found = (await listAttributes(deps, actor, subject)).find((attribute) => attribute.key === key);
  if (found === undefined) throw notFound('Custom Attribute');
  return found;
}

/** @throws 400 by field, 404 if the subject was deleted, 409 if concurrent changes prevented every attempt */
export async function setAttribute(
  deps: Deps,
  actor: Actor,
  subject: Subject,
  { key, value }: CustomAttribute,
): Promise<CustomAttribute> {
  requireAdministrator(actor);
  const tooLong = `is too long (maximum is ${MAX_LENGTH} characters)`;
  if (key.length > MAX_LENGTH) throw invalid({ key: [tooLong] });
  // Objects that are made by assignment have no such member.
  if (key === '__proto__') throw invalid({ key: ['is invalid'] });
  if (value.length > MAX_LENGTH) throw invalid({ value: [tooLong] });
  try {
    await deps.store.customAttributes.set(subject, key, value);
  } catch (error) {
    if (error instanceof LimitReached)
      throw invalid({ base: [`there are ${MAX_ATTRIBUTES} custom attributes already`] });
    throw failed(error, subject);
  }
  return { key, value };
}

/** @throws 404 */
export async function removeAttribute(
  deps: Deps,
  actor: Actor,
  subject: Subject,
  key: string,
): Promise<void> {
  requireAdministrator(actor);
  let existed: boolean;
  try {
    existed = await deps.store.customAttributes.remove(subject, key);
  } catch (error) {
    throw failed(error, subject);
  }
  if (!existed) throw notFound('Custom Attribute');
}

/**
 * For lists with `with_custom_attributes`: the attributes of each subject, in the order of the IDs.
 * @returns undefined if the caller is no administrator
 */
export async function attributesOfMany(
  { store }: Deps,
  actor: Actor,
  kind: Subject['kind'],
  ids: readonly number[],
): Promise<CustomAttribute[][] | undefined> {
  if (!isAdministrator(actor)) return undefined;
  return (await store.customAttributes.getMany(kind, ids)).map(listed);
}

/**
 * Parses the `custom_attributes` filter of a list.
 * @returns undefined if it is empty or the caller is no administrator, whose filter alone counts
 * @throws 400 for a value that is null, an object or an array
 */
export function attributeFilter(
  actor: Actor,
  filter: Readonly<Record<string, unknown>> | undefined,
): Attributes | undefined {
  const entries = Object.entries(filter ?? {});
  if (entries.length === 0 || !isAdministrator(actor)) return undefined;
  return Object.fromEntries(
    entries.map(([key, value]) => {
      if (value === null || typeof value === 'object') throw badRequest('custom_attributes is invalid');
      return [key, String(value)];
    }),
  );
}

const listed = (attributes: Attributes): CustomAttribute[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value }));

const KINDS = { user: 'User', group: 'Group', project: 'Project' } as const;

function failed(error: unknown, { kind }: Subject): unknown {
  if (error instanceof Missing) return notFound(KINDS[kind]);
  return error instanceof Stale ? conflict('the custom attributes are changing: try again') : error;
}
