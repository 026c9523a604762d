import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

export const errorTrackingPartition = (projectId: number): string => `ERRORTRACKING#${padded(projectId)}`;

export const errorTrackingSettingsKey = (projectId: number): Key => ({
  pk: errorTrackingPartition(projectId),
  sk: 'SETTINGS',
});

export const CLIENT_KEY_PREFIX = 'ID#';

/** A key with which programs send errors; in the order of ids. */
export const clientKeyKey = (projectId: number, id: number): Key => ({
  pk: errorTrackingPartition(projectId),
  sk: `${CLIENT_KEY_PREFIX}${padded(id)}`,
});

/** Leads to the key of a text. */
export const publicKeyKey = (projectId: number, publicKey: string): Key => ({
  pk: errorTrackingPartition(projectId),
  sk: `PUBLIC#${publicKey}`,
});

/** How many keys there are. */
export const clientKeyCountKey = (projectId: number): Key => ({
  pk: errorTrackingPartition(projectId),
  sk: 'COUNT',
});

export const trackedErrorsPartition = (projectId: number): string => `ERRORS#${padded(projectId)}`;

export const TRACKED_ERROR_PREFIX = 'ID#';

/** Errors that are one; in the order in which they came first. */
export const trackedErrorKey = (projectId: number, id: number): Key => ({
  pk: trackedErrorsPartition(projectId),
  sk: `${TRACKED_ERROR_PREFIX}${padded(id)}`,
});

/** Leads to the error of a fingerprint. */
export const fingerprintKey = (projectId: number, fingerprint: string): Key => ({
  pk: trackedErrorsPartition(projectId),
  sk: `PRINT#${fingerprint}`,
});

/** How many errors there are. */
export const trackedErrorCountKey = (projectId: number): Key => ({
  pk: trackedErrorsPartition(projectId),
  sk: 'COUNT',
});

export const errorEventsPartition = (projectId: number): string => `ERROREVENTS#${padded(projectId)}`;

export const errorEventPrefix = (errorId: number): string => `EVENT#${padded(errorId)}#`;

/** One occurrence of an error; in the order in which they came. */
export const errorEventKey = (projectId: number, errorId: number, id: string): Key => ({
  pk: errorEventsPartition(projectId),
  sk: `${errorEventPrefix(errorId)}${id}`,
});

const of = ['project'] as const;
const partitions = ['ERRORTRACKING#'] as const;

export const rowKinds = [
  { name: 'error-tracking-settings', partitions, keys: { errorTrackingSettingsKey }, of },
  { name: 'client-key', partitions, keys: { clientKeyKey }, of },
  { name: 'client-key-text', partitions, keys: { publicKeyKey }, of },
  { name: 'client-key-count', partitions, keys: { clientKeyCountKey }, of },
  { name: 'tracked-error', partitions: ['ERRORS#'], keys: { trackedErrorKey }, of },
  { name: 'error-fingerprint', partitions: ['ERRORS#'], keys: { fingerprintKey }, of },
  { name: 'tracked-error-count', partitions: ['ERRORS#'], keys: { trackedErrorCountKey }, of },
  { name: 'error-event', partitions: ['ERROREVENTS#'], keys: { errorEventKey }, of, expires: true },
] as const satisfies readonly RowKind[];
