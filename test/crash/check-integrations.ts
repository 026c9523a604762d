import type { IntegrationRecord } from '../../lib/records/integrations.ts';
import { secretOwnerOf } from '../../lib/store/integrations/integrations.ts';
import { integrationKey } from '../../lib/store/row-keys/integrations.ts';
import { secretKey } from '../../lib/store/row-keys/secrets.ts';
import { livingOf } from './records.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

/** Integrations stand where they are read, are counted in their projects, and have the secrets that they say they have. */
export const integrations = rowCheck(['integration'], function* (rows) {
  const all = rows.of('INTEGRATIONS#') as unknown as (Row & IntegrationRecord)[];
  for (const one of all) {
    if (keyText(integrationKey(one.owner, one.slug)) !== keyText(one)) yield `${keyText(one)} is another one`;
    for (const name of one.secrets)
      if (rows.get(secretKey(secretOwnerOf(one), name)) === undefined) yield `${keyText(one)} lacks ${name}`;
  }
  for (const row of livingOf(rows)) {
    if (row.type !== 'project') continue;
    const count = (row.row['integrationsCount'] as number | undefined) ?? 0;
    const active = all.filter(
      ({ owner, active: on }) => owner.kind === 'project' && owner.id === row.id && on,
    ).length;
    if (count !== active) yield `project ${row.id} counts ${count} integrations and has ${active}`;
  }
});
