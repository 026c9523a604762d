import type { Acted } from '../../domain/notes/acting.ts';
import { json, type Reply } from '../../http/reply.ts';
import * as shapes from './shapes.ts';

/** The answer where a text had quick actions only. */
export const ONLY_ACTIONS = {
  status: 202,
  body: shapes.commands,
  description: 'The text had quick actions only, so there is no note',
} as const;

/** @param shown makes the answer with what was written. @returns 202 where the text had quick actions only */
export const answered = <T, R>(
  { written, changes, summary }: Acted<T>,
  shown: (written: T, changes: Acted<T>['changes']) => R,
): R | Reply =>
  written === undefined
    ? json({ commands_changes: changes, summary: summary === '' ? [] : [summary] }, { status: 202 })
    : shown(written, changes);
