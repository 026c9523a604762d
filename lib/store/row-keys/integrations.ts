import type { IntegrationOwner } from '../../records/integrations.ts';
import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

export const integrationsPartition = (owner: IntegrationOwner): string =>
  `INTEGRATIONS#${owner.kind === 'system' ? 'SYSTEM' : `${owner.kind.toUpperCase()}#${padded(owner.id)}`}`;

export const INTEGRATION_PREFIX = 'INTEGRATION#';

/** How a project, a group or the instance uses another service. */
export const integrationKey = (owner: IntegrationOwner, slug: string): Key => ({
  pk: integrationsPartition(owner),
  sk: `${INTEGRATION_PREFIX}${slug}`,
});

export const rowKinds = [
  {
    name: 'integration',
    partitions: ['INTEGRATIONS#'],
    keys: { integrationKey },
    of: ['project', 'group', 'instance'],
  },
] as const satisfies readonly RowKind[];
