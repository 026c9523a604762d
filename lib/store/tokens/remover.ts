import type { Remover, UserRow } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { DeployTokens } from './deploy-tokens.ts';
import type { Tokens } from './tokens.ts';

interface Stores {
  readonly tokens: Tokens;
  readonly deployTokens: DeployTokens;
}

// The tokens themselves are deleted with their bots, by jobs that this enqueues.
const ofResource = [
  'access-token-of-resource',
  'token-count',
  'deploy-token-of-resource',
  'deploy-token',
  'deploy-token-id',
] as const;

const removeOfResource = async (
  { tokens, deployTokens }: Stores,
  resource: { readonly kind: 'project' | 'group'; readonly id: number },
  deadline: number,
): Promise<boolean> =>
  (await untilNoneLeft(() => tokens.removeOfResource(resource), deadline)) &&
  untilNoneLeft(() => deployTokens.removeOfResource(resource), deadline);

const forget = ({ tokens }: Stores, { pk }: UserRow) => tokens.forget(pk.slice('TOKEN#'.length));

export const remover: Remover<Stores> = {
  ofProject: {
    rows: ofResource,
    run: (stores, { id }, deadline) => removeOfResource(stores, { kind: 'project', id }, deadline),
  },
  ofGroup: {
    rows: ofResource,
    run: (stores, { id }, deadline) => removeOfResource(stores, { kind: 'group', id }, deadline),
  },
  ofUserRows: {
    rows: ['token', 'token-id', 'access-token-of-resource'],
    byRow: { TOKEN: forget, IMPERSONATION: forget },
  },
};
