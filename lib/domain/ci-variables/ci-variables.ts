/** Variables that jobs get: of the instance, of a group, of a project. */

import {
  ANY_ENVIRONMENT,
  type CiVariable,
  type VariableOwner,
  type VariableType,
} from '../../records/ci-variables.ts';
import { MAX_VARIABLE_BYTES, TooManyBytes } from '../../store/ci-variables/ci-variables.ts';
import { AlreadyExists, LimitReached, Missing, Stale } from '../../store/errors.ts';
import type { Actor } from '../actor.ts';
import { audited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import { retryWhileStale } from '../retry-while-stale.ts';
import { sealing } from '../secrets/sealing.ts';
import { auditedChanges, auditedVariable } from './audit.ts';
import type { VariablePlace } from './places.ts';
import { variableProblems } from './rules.ts';

export interface VariableInput extends VariableProperties {
  readonly key: string;
  readonly value: string;
}

export interface VariableChange extends VariableProperties {
  readonly value?: string | undefined;
}

interface VariableProperties {
  readonly type?: VariableType | undefined;
  /** Absent: what the setting of the instance says. */
  readonly protected?: boolean | undefined;
  readonly masked?: boolean | undefined;
  readonly raw?: boolean | undefined;
  readonly environmentScope?: string | undefined;
}

/** In the order of their creation. */
export const listVariables = (deps: Deps, owner: VariableOwner): Promise<CiVariable[]> =>
  deps.store.ciVariables.of(sealing(deps), owner);

/**
 * @param scope which one of the key; absent: there may be only one
 * @throws 404 `404 Variable Not Found`; 409 where several have the key
 */
export async function getVariable(
  deps: Deps,
  owner: VariableOwner,
  key: string,
  scope: string | undefined,
): Promise<CiVariable> {
  // A key that none can have would be part of the prefix of others.
  const found = /^\w{1,255}$/.test(key) ? await deps.store.ciVariables.ofKey(sealing(deps), owner, key) : [];
  const matching = scope === undefined ? found : found.filter((each) => each.environmentScope === scope);
  if (matching.length > 1)
    throw conflict(
      "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'",
    );
  const [variable] = matching;
  if (variable === undefined) throw notFound('Variable');
  return variable;
}

/** @throws 400 by field; 404 when the project or group is deleted meanwhile */
export async function createVariable(
  deps: Deps,
  actor: Actor,
  { owner, entity }: VariablePlace,
  input: VariableInput,
): Promise<CiVariable> {
  const at = deps.now().toISOString();
  const byDefault = async () => (await deps.settings.current()).protected_ci_variables;
  const fresh = {
    owner,
    key: input.key,
    value: input.value,
    type: input.type ?? 'env_var',
    protected: input.protected ?? (await byDefault()),
    masked: input.masked ?? false,
    raw: input.raw ?? false,
    environmentScope: input.environmentScope ?? ANY_ENVIRONMENT,
    createdAt: at,
    updatedAt: at,
    version: 1,
  };
  requireValid(fresh);
  const variable = { id: await deps.store.ciVariables.nextId(), ...fresh };
  const event = await audited(deps, actor, auditedVariable('add', entity, variable));
  try {
    await deps.store.ciVariables.create(sealing(deps), variable, [event]);
    return variable;
  } catch (error) {
    throw failed(error, variable);
  }
}

/** @throws 400 by field; 404; 409 where several have the key, or others kept changing it */
export async function changeVariable(
  deps: Deps,
  actor: Actor,
  { owner, entity }: VariablePlace,
  key: string,
  scope: string | undefined,
  input: VariableChange,
): Promise<CiVariable> {
  const change = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const attempt = async (): Promise<CiVariable> => {
    const previous = await getVariable(deps, owner, key, scope);
    const next: CiVariable = { ...previous, ...change };
    requireValid(next);
    const changes = auditedChanges(entity, previous, next);
    if (changes.length === 0) return previous;
    const events = await Promise.all(changes.map((event) => audited(deps, actor, event)));
    try {
      return await deps.store.ciVariables.change(sealing(deps), previous, change, deps.now(), events);
    } catch (error) {
      throw error instanceof Stale ? error : failed(error, next);
    }
  };
  return retryWhileStale(attempt);
}

/** @throws 404; 409 where several have the key, or others kept changing it */
export async function removeVariable(
  deps: Deps,
  actor: Actor,
  { owner, entity }: VariablePlace,
  key: string,
  scope: string | undefined,
): Promise<void> {
  await retryWhileStale(async () => {
    const variable = await getVariable(deps, owner, key, scope);
    const event = await audited(deps, actor, auditedVariable('remove', entity, variable));
    await deps.store.ciVariables.remove(variable, [event]);
  });
}

/** @throws 400 by field */
function requireValid(variable: Parameters<typeof variableProblems>[0]): void {
  const problems = variableProblems(variable);
  if (problems !== undefined) throw invalid(problems);
}

/** What a failed write of a variable is told as. */
export function failed(error: unknown, { key, owner }: Pick<CiVariable, 'key' | 'owner'>): unknown {
  if (error instanceof AlreadyExists) return invalid({ key: [`(${key}) has already been taken`] });
  if (error instanceof TooManyBytes)
    return invalid({ value: [`all values together may have ${MAX_VARIABLE_BYTES} bytes`] });
  if (error instanceof LimitReached)
    return invalid({
      base: [`Maximum number of ${LIMITED[owner.kind]} variables (${error.limit}) exceeded`],
    });
  if (error instanceof Missing) return notFound(owner.kind === 'group' ? 'Group' : 'Project');
  return error;
}

const LIMITED = {
  instance: 'ci instance level',
  group: 'group ci',
  project: 'project ci',
  schedule: 'pipeline schedule',
} as const;
