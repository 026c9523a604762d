/** How runners come and go by themselves: with a registration token, then with a token of their own. */
import type { RunnerFacts, RunnerPlace, RunnerRecord, RunnerType } from '../../records/runners.ts';
import { LimitReached, Missing, Stale } from '../../store/errors.ts';
import { MAX_RUNNERS, type NewRunner } from '../../store/runners/runners.ts';
import { tokenHash } from '../access/token-check.ts';
import type { Actor } from '../actor.ts';
import { audited, prepareAudited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { forbidden, invalid } from '../errors.ts';
import { newTokenText } from '../tokens/tokens.ts';
import { auditedRunner, entityOfPlace, kindOf, placeOf } from './audit.ts';
import { requireValid, tagsOf } from './rules.ts';

/** What a runner is registered with. */
export interface RegistrationInput
  extends Pick<RunnerRecord, 'runUntagged' | 'locked' | 'paused' | 'maximumTimeout' | 'accessLevel'> {
  /** Registration token. */
  readonly token: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly facts: RunnerFacts;
  readonly address: string;
}

const TYPES: Readonly<Record<RunnerPlace['kind'], RunnerType>> = {
  instance: 'instance_type',
  group: 'group_type',
  project: 'project_type',
};

/**
 * Registers a runner.
 * @returns its record, and the text of its token, which is shown only once
 * @throws 403 for a token of nothing, or of a kind of place that no runner may register for; 400 with problems by field
 */
export async function registerRunner(
  deps: Deps,
  actor: Actor,
  { token, tags, address, facts, ...given }: RegistrationInput,
): Promise<{ readonly runner: RunnerRecord; readonly text: string }> {
  const [place, settings] = await Promise.all([
    deps.store.runnersTokens.placeOf(token),
    deps.settings.current(),
  ]);
  if (place === undefined) throw forbidden();
  if (place.kind !== 'instance' && !settings.valid_runner_registrars.includes(place.kind)) throw forbidden();
  const text = newTokenText('');
  const runner: NewRunner = {
    ...given,
    ...facts,
    type: TYPES[place.kind],
    groupId: place.kind === 'group' ? place.id : null,
    projectIds: place.kind === 'project' ? [place.id] : [],
    tags: tagsOf(tags),
    hash: tokenHash(text),
    ipAddress: address,
  };
  requireValid(runner);
  const [entity, toEvent] = await Promise.all([entityOfPlace(deps, place), prepareAudited(deps, actor)]);
  try {
    const alongside = (created: RunnerRecord) => [
      toEvent(auditedRunner(entity, created, `Registered ${kindOf(created)}`)),
    ];
    return { runner: await deps.store.runners.create(runner, deps.now(), alongside), text };
  } catch (error) {
    // The group or project is deleted.
    if (error instanceof Missing) throw forbidden();
    if (error instanceof LimitReached) {
      const which = `Maximum number of ci registered ${place.kind} runners`;
      throw invalid({ base: [`${which} (${MAX_RUNNERS}) exceeded`] });
    }
    throw error;
  }
}

/** Returns the runner with a token. @throws 403 */
export async function runnerOf({ store }: Deps, token: string): Promise<RunnerRecord> {
  const runner = await store.runners.byHash(tokenHash(token));
  if (runner === undefined) throw forbidden();
  return runner;
}

/** Deletes the runner with a token. @throws 403 */
export async function unregisterRunner(deps: Deps, actor: Actor, token: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await removeRunner(deps, actor, await runnerOf(deps, token));
    } catch (error) {
      if (!(error instanceof Stale) || attempt === 3) throw error;
    }
  }
}

/** @throws Stale when it was changed or deleted since it was read */
export async function removeRunner(deps: Deps, actor: Actor, runner: RunnerRecord): Promise<void> {
  const entity = await entityOfPlace(deps, placeOf(runner));
  const event = await audited(deps, actor, auditedRunner(entity, runner, `Unregistered ${kindOf(runner)}`));
  await deps.store.runners.remove(runner, [event]);
}

/** How long a runner need not be noted as having asked again: an idle poll writes nothing. */
const NOTED_FOR = 30 * 60_000;

/** Notes that a runner asked, at most every half hour, or where it is another program than before. */
export async function noteContact(
  deps: Deps,
  runner: RunnerRecord,
  facts: Partial<RunnerFacts>,
  address: string,
): Promise<void> {
  const known = (Object.keys(facts) as (keyof RunnerFacts)[]).every((name) => runner[name] === facts[name]);
  const now = deps.now();
  const { contactedAt } = runner;
  const recent = contactedAt !== null && now.getTime() - Date.parse(contactedAt) < NOTED_FOR;
  if (recent && known) return;
  await deps.store.runners.contacted(runner, { ...facts, ipAddress: address }, now);
}
