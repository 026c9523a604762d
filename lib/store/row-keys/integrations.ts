import type { IntegrationOwner } from '../../records/integrations.ts';
import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

export const integrationsPartition = ({ kind, id }: IntegrationOwner): string =>
  `INTEGRATIONS#${kind.toUpperCase()}#${padded(id)}`;

export const INTEGRATION_PREFIX = 'INTEGRATION#';

/** How a project or a group uses another service. */
export const integrationKey = (owner: IntegrationOwner, slug: string): Key => ({
  pk: integrationsPartition(owner),
  sk: `${INTEGRATION_PREFIX}${slug}`,
});

export const rowKinds = [
  {
    name: 'integration',
    partitions: ['INTEGRATIONS#'],
    keys: { integrationKey },
    of: ['project', 'group'],
  },
] as const satisfies readonly RowKind[];
