import type { MemberSource } from '../../records/members.ts';
import type { RunnerPlace } from '../../records/runners.ts';
import { type Key, padded } from './key.ts';
import { memberPartition } from './members.ts';
import type { RowKind } from './row-kind.ts';

/** Registration token of the runners of a place. */
export const runnersTokenKey = (place: RunnerPlace): Key => ({
  pk: place.kind === 'instance' ? 'RUNNERS#INSTANCE' : memberPartition(place),
  sk: 'RUNNERS_TOKEN',
});

/** Leads from the digest of a registration token to its place. */
export const runnersTokenHashKey = (hash: string): Key => ({
  pk: `RUNNERSTOKEN#${hash}`,
  sk: 'RUNNERSTOKEN',
});

export const runnerKey = (id: number): Key => ({ pk: `RUNNER#${padded(id)}`, sk: 'RUNNER' });

/** Leads from the digest of a runner's token to the runner. */
export const runnerTokenKey = (hash: string): Key => ({ pk: `RUNNERTOKEN#${hash}`, sk: 'RUNNERTOKEN' });

export const RUNNER_OF = 'RUNNER#';

/** A runner of a group, or one that is enabled in a project. */
export const runnerOfKey = (source: MemberSource, id: number): Key => ({
  pk: memberPartition(source),
  sk: `${RUNNER_OF}${padded(id)}`,
});

/** How many of these there are. */
export const runnerCountKey = (source: MemberSource): Key => ({ pk: memberPartition(source), sk: 'RUNNERS' });

const PLACES = ['PROJECT#', 'GROUP#'] as const;
const of = ['project', 'group', 'instance'] as const;

export const rowKinds = [
  { name: 'runners-token', partitions: [...PLACES, 'RUNNERS#'], keys: { runnersTokenKey }, of },
  { name: 'runners-token-hash', partitions: ['RUNNERSTOKEN#'], keys: { runnersTokenHashKey }, of },
  { name: 'runner', partitions: ['RUNNER#'], keys: { runnerKey }, of },
  { name: 'runner-token', partitions: ['RUNNERTOKEN#'], keys: { runnerTokenKey }, of },
  { name: 'runner-of-resource', partitions: PLACES, keys: { runnerOfKey }, of: ['project', 'group'] },
  { name: 'runner-count', partitions: PLACES, keys: { runnerCountKey }, of: ['project', 'group'] },
] as const satisfies readonly RowKind[];
