/** What administrators note on users, groups and projects; nobody else sees or finds it. */

import type { Subject } from '../../records/subject.ts';
import { type Attributes, MAX_ATTRIBUTES } from '../../store/custom-attributes/custom-attributes.ts';
import { LimitReached, Missing, Stale } from '../../store/errors.ts';
import type { Actor } from '../actor.ts';
import { isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { badRequest, conflict, forbidden, invalid, notFound } from '../errors.ts';

export interface CustomAttribute {
  readonly key: string;
  readonly value: string;
}

const MAX_LENGTH = 255;

/** @throws 403 */
function demandAdministrator(actor: Actor): void {
  if (!isAdministrator(actor)) throw forbidden();
}

export async function listAttributes(deps: Deps, actor: Actor, subject: Subject): Promise<CustomAttribute[]> {
  demandAdministrator(actor);
  return listed(await deps.store.customAttributes.get(subject));
}

/** @throws 404 */
export async function getAttribute(
  deps: Deps,
  actor: Actor,
  subject: Subject,
  key: string,
): Promise<CustomAttribute> {
  const found = (await listAttributes(deps, actor, subject)).find((each) => each.key === key);
  if (found === undefined) throw notFound('Custom Attribute');
  return found;
}

/** @throws 400 by field, 404 when the subject is gone, 409 when others change it all the time */
export async function setAttribute(
  deps: Deps,
  actor: Actor,
  subject: Subject,
  { key, value }: CustomAttribute,
): Promise<CustomAttribute> {
  demandAdministrator(actor);
  const tooLong = `is too long (maximum is ${MAX_LENGTH} characters)`;
  if (key.length > MAX_LENGTH) throw invalid({ key: [tooLong] });
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
  demandAdministrator(actor);
  let had: boolean;
  try {
    had = await deps.store.customAttributes.remove(subject, key);
  } catch (error) {
    throw failed(error, subject);
  }
  if (!had) throw notFound('Custom Attribute');
}

/**
 * For lists with `with_custom_attributes`: those of each, in the order of the ids.
 * @returns undefined where the caller does not get to see any
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
 * The filter of a list, as an object of texts.
 * @returns undefined where it names nothing, and for callers whose filter does not count
 * @throws 400 for a value that is no text
 */
export function wantedAttributes(
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
