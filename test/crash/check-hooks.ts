import type { HookRecord } from '../../lib/records/hooks.ts';
import type { IntegrationRecord } from '../../lib/records/integrations.ts';
import { HOOK_TOKEN, secretOwner } from '../../lib/store/hooks/hooks.ts';
import {
  HOOK_PREFIX,
  hookCountKey,
  hookCountsKey,
  hookDeliveryKey,
  hookKey,
  WAITING_PREFIX,
} from '../../lib/store/row-keys/hooks.ts';
import { idOf } from '../../lib/store/row-keys/key.ts';
import { secretKey } from '../../lib/store/row-keys/secrets.ts';
import { groupsOf, livingOf } from './records.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

const KINDS = [
  'hook',
  'hook-count',
  'hook-counts',
  'hook-lease',
  'waiting-delivery',
  'hook-delivery',
] as const;

/** Hooks stand where they are read, are counted, and have the secrets that they say they have; what waits can be made. */
export const hooks = rowCheck(KINDS, function* (rows) {
  const all = rows.of('HOOKS#').filter(({ sk }) => sk.startsWith(HOOK_PREFIX)) as unknown as (Row &
    HookRecord)[];
  for (const hook of all) {
    if (keyText(hookKey(hook.owner, hook.id)) !== keyText(hook)) yield `${keyText(hook)} is another hook`;
    const sealed = rows.get(secretKey(secretOwner(hook.id), HOOK_TOKEN)) !== undefined;
    if (sealed !== hook.hasToken) yield `hook ${hook.id} ${sealed ? 'has' : 'lacks'} a token`;
  }
  const queues = rows.of('HOOKQUEUE#');
  for (const row of queues) {
    if (typeof row['ttl'] !== 'number') yield `${keyText(row)} stays for ever`;
    if (!row.sk.startsWith(WAITING_PREFIX)) continue;
    const delivery = hookDeliveryKey(idOf(row.pk), row.sk.slice(WAITING_PREFIX.length));
    if (rows.get(delivery)?.['state'] !== 'waiting') yield `${keyText(row)} waits for nothing`;
  }
  const of = (kind: string, id?: number) =>
    all.filter(
      ({ owner }) => owner.kind === kind && (id === undefined || (owner as { id: number }).id === id),
    ).length;
  for (const row of livingOf(rows)) {
    if (row.type !== 'project') continue;
    const count = (row.row['hooksCount'] as number | undefined) ?? 0;
    if (count !== of('project', row.id)) yield `project ${row.id} counts ${count} hooks`;
  }
  for (const { id } of groupsOf(rows)) {
    const count = (rows.get(hookCountKey({ kind: 'group', id }))?.['hooks'] as number | undefined) ?? 0;
    if (count !== of('group', id)) yield `group ${id} counts ${count} hooks`;
  }
  const counts = rows.get(hookCountsKey());
  const integrations = rows.of('INTEGRATIONS#') as unknown as IntegrationRecord[];
  const listening = {
    group: of('group') + integrations.filter(({ owner, active }) => owner.kind === 'group' && active).length,
    system: of('system'),
    integrations: integrations.filter(({ owner, active }) => owner.kind === 'system' && active).length,
  };
  for (const kind of ['group', 'system', 'integrations'] as const)
    if (((counts?.[kind] as number | undefined) ?? 0) !== listening[kind])
      yield `the instance counts ${counts?.[kind]} hooks of kind ${kind}`;
});
