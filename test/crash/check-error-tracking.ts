import type { ClientKey, ErrorEvent, TrackedError } from '../../lib/records/error-tracking.ts';
import {
  CLIENT_KEY_PREFIX,
  clientKeyCountKey,
  errorEventPrefix,
  errorTrackingPartition,
  fingerprintKey,
  publicKeyKey,
  TRACKED_ERROR_PREFIX,
  trackedErrorCountKey,
  trackedErrorsPartition,
} from '../../lib/store/row-keys/error-tracking.ts';
import { livingOf } from './records.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

/** Client keys are found by their texts, and counted. */
export const clientKeys = rowCheck(
  ['error-tracking-settings', 'client-key', 'client-key-text', 'client-key-count'],
  function* (rows) {
    const all = rows.of('ERRORTRACKING#');
    const texts = new Set(all.filter(({ sk }) => sk.startsWith('PUBLIC#')).map(keyText));
    const keys = all.filter(({ sk }) => sk.startsWith(CLIENT_KEY_PREFIX)) as unknown as (Row & ClientKey)[];
    for (const { id, projectId, publicKey } of keys)
      if (!texts.delete(keyText(publicKeyKey(projectId, publicKey))))
        yield `client key ${id} is not found by its text`;
    for (const text of texts) yield `${text} leads to no client key`;
    for (const { id } of livingOf(rows)) {
      const held = keys.filter(({ pk }) => pk === errorTrackingPartition(id)).length;
      const total = (rows.get(clientKeyCountKey(id))?.['total'] as number | undefined) ?? 0;
      if (total !== held) yield `project ${id} counts ${total} of ${held} client keys`;
    }
  },
);

/** Errors are found by their fingerprints, counted, and count what happened. */
export const trackedErrors = rowCheck(
  ['tracked-error', 'error-fingerprint', 'tracked-error-count', 'error-event'],
  function* (rows) {
    const all = rows.of('ERRORS#');
    const prints = new Set(all.filter(({ sk }) => sk.startsWith('PRINT#')).map(keyText));
    const errors = all.filter(({ sk }) => sk.startsWith(TRACKED_ERROR_PREFIX)) as unknown as (Row &
      TrackedError)[];
    const events = rows.of('ERROREVENTS#') as unknown as (Row & ErrorEvent)[];
    for (const { id, projectId, fingerprint, count } of errors) {
      const key = fingerprintKey(projectId, fingerprint);
      if (!prints.delete(keyText(key)) || rows.get(key)?.['errorId'] !== id)
        yield `error ${id} is not found by its fingerprint`;
      const happened = events.filter(({ sk }) => sk.startsWith(errorEventPrefix(id))).length;
      if (happened !== count) yield `error ${id} counts ${count} of ${happened} occurrences`;
    }
    for (const print of prints) yield `${print} leads to no error`;
    for (const { id } of livingOf(rows)) {
      const held = errors.filter(({ pk }) => pk === trackedErrorsPartition(id)).length;
      const total = (rows.get(trackedErrorCountKey(id))?.['total'] as number | undefined) ?? 0;
      if (total !== held) yield `project ${id} counts ${total} of ${held} errors`;
    }
  },
);
