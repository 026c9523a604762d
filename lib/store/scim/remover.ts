import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { ScimIdentities } from './identities.ts';
import type { ScimTokens } from './tokens.ts';

interface Stores {
  readonly scimIdentities: ScimIdentities;
  readonly scimTokens: ScimTokens;
}

export const remover: Remover<Stores> = {
  ofGroup: {
    rows: ['scim-identity', 'scim-user', 'scim-name', 'scim-count', 'scim-token', 'scim-token-of-group'],
    async run({ scimIdentities, scimTokens }, { id }, deadline) {
      if (!(await untilNoneLeft(() => scimIdentities.removeOfGroup(id), deadline))) return false;
      await scimTokens.removeOfGroup(id);
      return true;
    },
  },
  ofUserRows: {
    rows: ['scim-identity', 'scim-user', 'scim-name'],
    byRow: { SCIM: ({ scimIdentities }, { pk, sk }) => scimIdentities.forget({ pk, sk }) },
  },
};
