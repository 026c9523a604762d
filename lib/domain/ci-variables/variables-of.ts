/** The variables that are configured for a job: of the instance, of its project's groups, of its project. */

import { ANY_ENVIRONMENT, type CiVariable } from '../../records/ci-variables.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Deps } from '../deps.ts';
import { sealing } from '../secrets/sealing.ts';
import type { JobVariable } from './job-variables.ts';

export interface VariableReader {
  /** Whether the pipeline's ref is protected. */
  readonly protected: boolean;
  /** Name of the job's environment, its variables put in; absent: it has none. */
  readonly environment?: string | undefined;
}

/**
 * The variables that are configured for a job or a pipeline, those that count least first: of the instance, of the groups
 * from the top-level group on, of the project. Of those with the same key in one place only that of the closest scope is
 * among them. One round trip.
 */
export async function variablesOf(
  deps: Pick<Deps, 'store' | 'secrets'>,
  project: Pick<ProjectRecord, 'id' | 'ancestorIds'>,
  reader: VariableReader,
): Promise<JobVariable[]> {
  const owners = [
    { kind: 'instance' } as const,
    ...project.ancestorIds.map((id) => ({ kind: 'group', id }) as const),
    { kind: 'project', id: project.id } as const,
  ];
  const secrets = sealing(deps);
  const all = await Promise.all(owners.map((owner) => deps.store.ciVariables.of(secrets, owner)));
  return all.flatMap((variables) => selected(variables, reader)).map(asJobVariable);
}

/** Those of one owner that a reader gets: of each key the one with the closest scope. */
export function selected(variables: readonly CiVariable[], reader: VariableReader): CiVariable[] {
  const { environment } = reader;
  const closest = new Map<string, { readonly variable: CiVariable; readonly closeness: number }>();
  for (const variable of variables) {
    if (variable.protected && !reader.protected) continue;
    const closeness = closenessOf(variable.environmentScope, environment);
    if (closeness === undefined || closeness < (closest.get(variable.key)?.closeness ?? 0)) continue;
    closest.set(variable.key, { variable, closeness });
  }
  return [...closest.values()].map(({ variable }) => variable);
}

/** How closely a scope is that of an environment; undefined: it is not. */
function closenessOf(scope: string, environment: string | undefined): number | undefined {
  if (scope === ANY_ENVIRONMENT) return 0;
  if (environment === undefined) return undefined;
  if (scope === environment) return 1000;
  // The more of the name the scope gives, the closer it is.
  return matches(scope, environment) ? 1 + scope.replaceAll('*', '').length : undefined;
}

/** Whether a scope with `*` covers a name. In steps: each part after a star is looked for once, from where the last ended. */
function matches(scope: string, name: string): boolean {
  const [first = '', ...parts] = scope.split('*');
  const last = parts.pop();
  if (last === undefined) return scope === name;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

const asJobVariable = ({ key, value, type, masked, raw }: CiVariable): JobVariable => ({
  key,
  value,
  public: false,
  masked,
  file: type === 'file',
  raw,
});
