import type { VariableOwner } from '../../records/ci-variables.ts';
import { digestOf, type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';
import { secretsOf } from './secrets.ts';

const ownerText = (owner: VariableOwner): string =>
  owner.kind === 'instance' ? 'INSTANCE' : `${owner.kind.toUpperCase()}#${padded(owner.id)}`;

/** Variables are among the secrets, so that they are sealed again with these when the master key changes. */
export const variablesPartition = (owner: VariableOwner): string => secretsOf(ownerText(owner));

export const VARIABLE = 'VARIABLE#';

export const variablesPrefix = (owner: VariableOwner): string => `${VARIABLE}${ownerText(owner)}#`;

/** The variables of one key, by their scopes. Keys are of letters, digits and `_`. */
export const variablesOfKey = (owner: VariableOwner, key: string): string =>
  `${variablesPrefix(owner)}${key}#`;

export const variableKey = (owner: VariableOwner, key: string, scope: string): Key => ({
  pk: variablesPartition(owner),
  sk: `${variablesOfKey(owner, key)}${digestOf(scope)}`,
});

/** How many there are, and the bytes of their values. */
export const variableCountKey = (owner: VariableOwner): Key => ({
  pk: `VARIABLES#${ownerText(owner)}`,
  sk: 'COUNT',
});

const of = ['instance', 'group', 'project'] as const;

export const rowKinds = [
  { name: 'ci-variable', partitions: ['SECRETS#'], keys: { variableKey }, of },
  { name: 'ci-variable-count', partitions: ['VARIABLES#'], keys: { variableCountKey }, of },
] as const satisfies readonly RowKind[];
