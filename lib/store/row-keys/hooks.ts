import type { HookOwner } from '../../records/hooks.ts';
import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

const ownerPart = (owner: HookOwner): string =>
  owner.kind === 'system' ? 'SYSTEM' : `${owner.kind.toUpperCase()}#${padded(owner.id)}`;

export const hooksPartition = (owner: HookOwner): string => `HOOKS#${ownerPart(owner)}`;

export const HOOK_PREFIX = 'HOOK#';

/** A hook of a project, a group or the instance. */
export const hookKey = (owner: HookOwner, id: number): Key => ({
  pk: hooksPartition(owner),
  sk: `${HOOK_PREFIX}${padded(id)}`,
});

/** How many hooks a group has. */
export const hookCountKey = (owner: HookOwner): Key => ({ pk: hooksPartition(owner), sk: 'COUNT' });

/** How many hooks groups and the instance have; read with the settings. */
export const hookCountsKey = (): Key => ({ pk: 'HOOKS#ALL', sk: 'COUNTS' });

export const hookQueuePartition = (hookId: number): string => `HOOKQUEUE#${padded(hookId)}`;

/** Who calls the hook now, and when it may be called again. */
export const hookLeaseKey = (hookId: number): Key => ({ pk: hookQueuePartition(hookId), sk: 'LEASE' });

export const WAITING_PREFIX = 'WAITING#';

/** That a delivery is to be made; in the order of the changes. */
export const waitingDeliveryKey = (hookId: number, id: string): Key => ({
  pk: hookQueuePartition(hookId),
  sk: `${WAITING_PREFIX}${id}`,
});

export const DELIVERY_PREFIX = 'DELIVERY#';

/** What is sent, and what was answered. */
export const hookDeliveryKey = (hookId: number, id: string): Key => ({
  pk: hookQueuePartition(hookId),
  sk: `${DELIVERY_PREFIX}${id}`,
});

const ofHook = { of: ['project', 'group', 'instance'], expires: true } as const;

export const rowKinds = [
  { name: 'hook', partitions: ['HOOKS#'], keys: { hookKey }, of: ['project', 'group', 'instance'] },
  { name: 'hook-count', partitions: ['HOOKS#'], keys: { hookCountKey }, of: ['group'] },
  { name: 'hook-counts', partitions: ['HOOKS#'], keys: { hookCountsKey }, of: ['instance'] },
  { name: 'hook-lease', partitions: ['HOOKQUEUE#'], keys: { hookLeaseKey }, ...ofHook },
  { name: 'waiting-delivery', partitions: ['HOOKQUEUE#'], keys: { waitingDeliveryKey }, ...ofHook },
  { name: 'hook-delivery', partitions: ['HOOKQUEUE#'], keys: { hookDeliveryKey }, ...ofHook },
] as const satisfies readonly RowKind[];
