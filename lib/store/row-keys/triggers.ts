import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';
import { secretsOf } from './secrets.ts';

/** Triggers are among the secrets, so that their tokens are sealed again with these when the master key changes. */
export const triggersPartition = (projectId: number): string => secretsOf(`TRIGGERS#${padded(projectId)}`);

export const TRIGGER = 'TRIGGER#';

export const triggersPrefix = (projectId: number): string => `${TRIGGER}${padded(projectId)}#`;

export const triggerKey = (projectId: number, id: number): Key => ({
  pk: triggersPartition(projectId),
  sk: `${triggersPrefix(projectId)}${padded(id)}`,
});

/** How many there are. */
export const triggerCountKey = (projectId: number): Key => ({
  pk: `TRIGGERS#${padded(projectId)}`,
  sk: 'COUNT',
});

/** Leads to the trigger of a token. @param hash of the token */
export const triggerTokenKey = (hash: string): Key => ({ pk: `TRIGGERTOKEN#${hash}`, sk: 'TRIGGER' });

const of = ['project'] as const;

export const rowKinds = [
  { name: 'trigger', partitions: ['SECRETS#'], keys: { triggerKey }, of },
  { name: 'trigger-count', partitions: ['TRIGGERS#'], keys: { triggerCountKey }, of },
  { name: 'trigger-token', partitions: ['TRIGGERTOKEN#'], keys: { triggerTokenKey }, of },
] as const satisfies readonly RowKind[];
