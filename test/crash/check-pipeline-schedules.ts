import type { CiVariable } from '../../lib/records/ci-variables.ts';
import type { PipelineScheduleRecord } from '../../lib/records/pipeline-schedules.ts';
import type { TriggerRecord } from '../../lib/records/triggers.ts';
import { VARIABLE } from '../../lib/store/row-keys/ci-variables.ts';
import {
  SCHEDULE,
  scheduleCountKey,
  schedulesPartition,
} from '../../lib/store/row-keys/pipeline-schedules.ts';
import {
  TRIGGER,
  triggerCountKey,
  triggerKey,
  triggersPrefix,
  triggerTokenKey,
} from '../../lib/store/row-keys/triggers.ts';
import { livingOf } from './records.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

/** Schedules are counted, and their variables are of schedules. */
export const pipelineSchedules = rowCheck(['pipeline-schedule', 'pipeline-schedule-count'], function* (rows) {
  const all = rows.of('PIPELINE_SCHEDULES#');
  const ids = new Set<number>();
  for (const row of all.filter(({ sk }) => sk.startsWith(SCHEDULE)) as unknown as (Row &
    PipelineScheduleRecord)[]) {
    ids.add(row.id);
    if (Number.isNaN(Date.parse(row.nextRunAt))) yield `schedule ${row.id} never runs`;
  }
  for (const { id } of livingOf(rows)) {
    const held = all.filter(({ pk, sk }) => pk === schedulesPartition(id) && sk.startsWith(SCHEDULE));
    const total = (rows.get(scheduleCountKey(id))?.['total'] as number | undefined) ?? 0;
    if (total !== held.length) yield `project ${id} counts ${total} of ${held.length} schedules`;
  }
  for (const row of rows.of('SECRETS#').filter(({ sk }) => sk.startsWith(VARIABLE))) {
    const { owner } = row['variable'] as CiVariable;
    if (owner.kind === 'schedule' && !ids.has(owner.id)) yield `${keyText(row)} is of no schedule`;
  }
});

/** Triggers are found by their tokens, sealed, and counted. */
export const triggers = rowCheck(['trigger', 'trigger-count', 'trigger-token'], function* (rows) {
  const all = rows.of('SECRETS#').filter(({ sk }) => sk.startsWith(TRIGGER)) as unknown as (Row &
    TriggerRecord & { readonly hash: string })[];
  const tokens = new Set(rows.of('TRIGGERTOKEN#').map(keyText));
  for (const row of all) {
    const { projectId, id, hash } = row;
    if (keyText(triggerKey(projectId, id)) !== keyText(row)) yield `trigger ${id} stands at ${keyText(row)}`;
    if (!tokens.delete(keyText(triggerTokenKey(hash)))) yield `trigger ${id} is not found by its token`;
    if (!(row['sealed'] instanceof Uint8Array)) yield `${keyText(row)} is not sealed`;
  }
  for (const token of tokens) yield `${token} leads to no trigger`;
  for (const { id } of livingOf(rows)) {
    const held = all.filter(({ sk }) => sk.startsWith(triggersPrefix(id)));
    const total = (rows.get(triggerCountKey(id))?.['total'] as number | undefined) ?? 0;
    if (total !== held.length) yield `project ${id} counts ${total} of ${held.length} triggers`;
  }
});
