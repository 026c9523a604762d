import type { CiVariable } from '../../lib/records/ci-variables.ts';
import { VARIABLE, variableCountKey, variableKey } from '../../lib/store/row-keys/ci-variables.ts';
import { groupKey } from '../../lib/store/row-keys/groups.ts';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

/** Each variable stands under its key and scope, sealed, and is counted; what it belongs to exists. */
export const ciVariables = rowCheck(['ci-variable', 'ci-variable-count'], function* (rows) {
  const totals = new Map<string, number>();
  for (const row of rows.of('SECRETS#').filter(({ sk }) => sk.startsWith(VARIABLE))) {
    const { owner, key, environmentScope } = row['variable'] as CiVariable;
    if (keyText(variableKey(owner, key, environmentScope)) !== keyText(row))
      yield `the variable ${key} stands at ${keyText(row)}`;
    if (!(row['sealed'] instanceof Uint8Array)) yield `${keyText(row)} is not sealed`;
    const count = keyText(variableCountKey(owner));
    totals.set(count, (totals.get(count) ?? 0) + 1);
    // What is deleted is removed behind its record.
    const record: Row | undefined =
      owner.kind === 'project'
        ? rows.get(projectKey(owner.id))
        : owner.kind === 'group'
          ? rows.get(groupKey(owner.id))
          : row;
    if (record === undefined) yield `${keyText(row)} belongs to nothing`;
  }
  for (const row of rows.of('VARIABLES#')) {
    const held = totals.get(keyText(row)) ?? 0;
    totals.delete(keyText(row));
    if (row['total'] !== held) yield `${keyText(row)} counts ${row['total']} of ${held} variables`;
  }
  for (const [key, held] of totals) yield `${key} does not count ${held} variables`;
});
