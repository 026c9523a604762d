import type { DeploymentRecord, EnvironmentRecord } from '../../lib/records/environments.ts';
import {
  deploymentKey,
  deploymentOfKey,
  deploymentPlaceKey,
  deploymentsPartition,
  ENVIRONMENT_PREFIX,
  environmentCountKey,
  environmentNameKey,
  environmentsPartition,
} from '../../lib/store/row-keys/environments.ts';
import { livingOf } from './records.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

/** Each environment is found by its name and counted; each deployment is in every order, and of its environment. */
export const environments = rowCheck(
  [
    'environment',
    'environment-name',
    'environment-count',
    'deployment',
    'deployment-in-list',
    'deployment-count',
  ],
  function* (rows) {
    const [places, deployed] = [rows.of('ENVIRONMENTS#'), rows.of('DEPLOYMENTS#')];
    for (const { id: projectId } of livingOf(rows)) {
      const own = places.filter(({ pk }) => pk === environmentsPartition(projectId));
      const held = own.filter(({ sk }) => sk.startsWith(ENVIRONMENT_PREFIX)) as unknown as (Row &
        EnvironmentRecord)[];
      for (const { id, name } of held)
        if (rows.get(environmentNameKey(projectId, name))?.['environmentId'] !== id)
          yield `environment ${id} is not found by its name`;
      const names = own.filter(({ sk }) => sk.startsWith('NAME#'));
      const count = (rows.get(environmentCountKey(projectId))?.['total'] as number | undefined) ?? 0;
      if (names.length !== held.length || count !== held.length)
        yield `project ${projectId} has ${held.length} environments, ${names.length} names, and counts ${count}`;
      const rowsOf = deployed.filter(({ pk }) => pk === deploymentsPartition(projectId));
      const records = rowsOf.filter(({ sk }) => sk.startsWith('ID#')) as unknown as (Row &
        DeploymentRecord)[];
      const expected = new Set(
        records.flatMap(({ id, environmentId, updatedAt, ref }) =>
          [
            deploymentKey(projectId, id),
            deploymentOfKey(projectId, environmentId, id),
            deploymentPlaceKey(projectId, 'UPDATED', updatedAt, id),
            deploymentPlaceKey(projectId, 'REF', ref, id),
          ].map(keyText),
        ),
      );
      for (const row of rowsOf) {
        if (row.sk === 'COUNT') continue;
        if (!expected.delete(keyText(row))) yield `${keyText(row)} is of no deployment`;
      }
      for (const key of expected) yield `a deployment lacks the row ${key}`;
    }
  },
);
