/** Tokens with which runners register: of the instance, of a group, of a project. */
import type { RunnerPlace } from '../../records/runners.ts';
import { Stale, StoreUnavailable } from '../../store/errors.ts';
import type { Actor } from '../actor.ts';
import { audited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { resourceNotFound } from '../errors.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { newTokenText } from '../tokens/tokens.ts';
import { entityOfPlace } from './audit.ts';

/** Returns the registration token of a place, created on first use. @throws 404 where the place is gone */
export async function registrationToken({ store }: Deps, place: RunnerPlace): Promise<string> {
  const token =
    (await store.runnersTokens.of(place)) ?? (await store.runnersTokens.give(place, newTokenText('')));
  if (token === undefined) throw goneError(place);
  return token;
}

/** The same for a record that shows it, which is shown without it rather than not at all while nothing can be written. */
export const shownRegistrationToken = (deps: Deps, place: RunnerPlace): Promise<string | undefined> =>
  registrationToken(deps, place).catch((error: unknown) => {
    if (error instanceof StoreUnavailable) return undefined;
    throw error;
  });

/** Replaces the registration token of a place: the previous one registers nothing from now on. @throws 404 */
export async function resetRegistrationToken(deps: Deps, actor: Actor, place: RunnerPlace): Promise<string> {
  const { runnersTokens } = deps.store;
  const entity = await entityOfPlace(deps, place);
  const text = newTokenText('');
  const event = await audited(deps, actor, {
    entity,
    details: { custom_message: `Reset ${place.kind} runner registration token` },
  });
  const attempt = async () => runnersTokens.replace(place, await runnersTokens.of(place), text, [event]);
  try {
    await retryOnConflict(attempt, (error) => error instanceof Stale, { attempts: 5 });
  } catch (error) {
    throw error instanceof Stale ? goneError(place) : error;
  }
  return text;
}

const goneError = (place: RunnerPlace) =>
  place.kind === 'instance' ? new Stale('registration token') : resourceNotFound(place);
