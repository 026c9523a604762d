/** Variables of the pipelines of a schedule. */

import { ANY_ENVIRONMENT, type CiVariable, type VariableType } from '../../records/ci-variables.ts';
import type { PipelineScheduleRecord } from '../../records/pipeline-schedules.ts';
import { AlreadyExists, Missing } from '../../store/errors.ts';
import { checkScheduleExists } from '../../store/pipeline-schedules/pipeline-schedules.ts';
import { failed } from '../ci-variables/ci-variables.ts';
import { variableProblems } from '../ci-variables/rules.ts';
import type { Deps } from '../deps.ts';
import { invalid, notFound } from '../errors.ts';
import { retryWhileStale } from '../retry-while-stale.ts';
import { sealing } from '../secrets/sealing.ts';
import { scheduleVariables } from './schedules.ts';

/** @throws 400 by field; 404 when the schedule is deleted meanwhile */
export async function createScheduleVariable(
  deps: Deps,
  schedule: PipelineScheduleRecord,
  { key, value, type }: { readonly key: string; readonly value: string; readonly type: VariableType },
): Promise<CiVariable> {
  const at = deps.now().toISOString();
  const fresh = {
    owner: { kind: 'schedule', id: schedule.id } as const,
    key,
    value,
    type,
    protected: false,
    masked: false,
    raw: false,
    environmentScope: ANY_ENVIRONMENT,
    createdAt: at,
    updatedAt: at,
    version: 1,
  };
  requireValid(fresh);
  const variable = { id: await deps.store.ciVariables.nextId(), ...fresh };
  try {
    await deps.store.ciVariables.create(sealing(deps), variable, [checkScheduleExists(schedule)]);
    return variable;
  } catch (error) {
    if (error instanceof AlreadyExists) throw invalid({ key: ['has already been taken'] });
    throw error instanceof Missing ? notFound('Pipeline Schedule') : failed(error, variable);
  }
}

/** @throws 400 by field; 404; 409 */
export const changeScheduleVariable = (
  deps: Deps,
  schedule: PipelineScheduleRecord,
  key: string,
  input: { readonly value?: string | undefined; readonly type?: VariableType | undefined },
): Promise<CiVariable> =>
  retryWhileStale(async () => {
    const previous = await variableOf(deps, schedule, key);
    const change = { value: input.value ?? previous.value, type: input.type ?? previous.type };
    requireValid({ ...previous, ...change });
    try {
      return await deps.store.ciVariables.change(sealing(deps), previous, change, deps.now());
    } catch (error) {
      throw failed(error, previous);
    }
  }, 'Project');

/** @returns what it was @throws 404; 409 */
export const removeScheduleVariable = (
  deps: Deps,
  schedule: PipelineScheduleRecord,
  key: string,
): Promise<CiVariable> =>
  retryWhileStale(async () => {
    const variable = await variableOf(deps, schedule, key);
    await deps.store.ciVariables.remove(variable);
    return variable;
  }, 'Project');

/** @throws 404 */
async function variableOf(deps: Deps, schedule: PipelineScheduleRecord, key: string): Promise<CiVariable> {
  const found = (await scheduleVariables(deps, schedule)).find((each) => each.key === key);
  if (found === undefined) throw notFound('Pipeline Schedule Variable');
  return found;
}

/** @throws 400 by field */
function requireValid(variable: Parameters<typeof variableProblems>[0]): void {
  const problems = variableProblems(variable);
  if (problems !== undefined) throw invalid(problems);
}
