import { Stale } from '../../store/errors.ts';
import type { Deps } from '../deps.ts';
import { bytesBesideCode } from '../repository/bytes.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';

/** Job of the worker. Idempotent; may run late, or after the snippet was deleted. */
export async function measureSnippet(deps: Deps, id: number): Promise<void> {
  const attempt = async () => {
    const { snippets } = deps.store;
    const before = await snippets.get(id);
    if (before === undefined) return;
    // Read after the record, whose version every write raises: none between the two goes unnoticed.
    const bytes = await bytesBesideCode(deps, { kind: 'snippet', id });
    await snippets.measured(before, bytes, deps.now());
  };
  await retryOnConflict(attempt, (error) => error instanceof Stale);
}
