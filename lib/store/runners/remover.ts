import type { MemberSource } from '../../records/members.ts';
import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { RunnersTokens } from './registration-tokens.ts';
import type { Runners } from './runners.ts';

interface Stores {
  readonly runners: Runners;
  readonly runnersTokens: RunnersTokens;
}

const rows = [
  'runners-token',
  'runners-token-hash',
  'runner',
  'runner-token',
  'runner-of-resource',
  'runner-count',
] as const;

async function remove(
  { runners, runnersTokens }: Stores,
  source: MemberSource,
  deadline: number,
): Promise<boolean> {
  // No runner registers here any more, because the project or group is marked as deleted.
  await runnersTokens.remove(source);
  return untilNoneLeft(() => runners.removeOfResource(source), deadline);
}

export const remover: Remover<Stores> = {
  ofProject: { rows, run: (stores, { id }, deadline) => remove(stores, { kind: 'project', id }, deadline) },
  ofGroup: { rows, run: (stores, { id }, deadline) => remove(stores, { kind: 'group', id }, deadline) },
};
