import { setTimeout as sleep } from 'node:timers/promises';
import { NOT_PROPOSED, proposalKey } from './check-proposals.ts';
import { call, done, type Outcome } from './client.ts';
import type { ExpectedState } from './expected-state.ts';
import type { Host } from './host.ts';
import { changing, type Step, steps } from './subject-writers.ts';
import type { Fixtures } from './writers.ts';

/** What becomes of proposals, in turns. */
const ENDS = ['merge', 'close', 'merge and remove the source', 'leave open'] as const;

/**
 * Proposes a branch, comments on it, pushes to its source, has every second one rebased onto what others have committed
 * meanwhile, has it approved, and merges it, closes it or leaves it open.
 * @param counted hears of each change that was made, as a round may end before the last
 */
export function proposing(
  host: Host,
  { ada, shared, uploaders }: Fixtures,
  expectedState: ExpectedState,
  counted: (outcome: Outcome<unknown>) => void,
): Step {
  let count = 0;
  const project = `/projects/${shared.id}`;
  const ask = (method: string, path: string, json?: object, { token } = ada) =>
    call(host.url, token, method, `${project}${path}`, json);
  return steps(async (name) => {
    const turn = count++;
    const title = `proposal-of-${name}`;
    const branch = `proposed/${name}`;
    const change = async (key: string, to: string, send: () => Promise<Outcome<unknown>>) => {
      await changing(expectedState, key, to, send);
      counted({ kind: 'done', value: undefined });
    };
    const commit = async (file: string, more: object = {}): Promise<string> => {
      const file_path = `${branch}/${file}.txt`;
      const actions = [{ action: 'create', file_path, content: file_path }];
      const json = { branch, commit_message: `Add ${file_path}`, actions, ...more };
      return done(await ask('POST', '/repository/commits', json)).id;
    };

    await commit('first', { start_branch: 'main' });
    const key = proposalKey('proposal', title);
    expectedState.state(key, NOT_PROPOSED);
    let at = '';
    await change(key, 'opened', async () => {
      const json = { title, source_branch: branch, target_branch: 'main', remove_source_branch: false };
      const made = await ask('POST', '/merge_requests', json);
      if (made.kind === 'done') at = `/merge_requests/${made.value.iid}`;
      return made;
    });
    const opinion = proposalKey('opinion', title);
    expectedState.state(opinion, '0');
    await change(opinion, '1', () =>
      ask('POST', `${at}/notes`, { body: title.replace('proposal', 'opinion') }),
    );
    const second = await commit('second');
    // Whoever looks at it sees what was pushed.
    const { sha } = done(await ask('GET', at));
    if (sha !== second) throw new Error(`refused: ${title} is shown at ${sha} and not at ${second}`);
    if (turn % 2 === 0) {
      done(await ask('PUT', `${at}/rebase`));
      await rebased(host, () => ask('GET', `${at}?include_rebase_in_progress=true`));
      counted({ kind: 'done', value: undefined });
    }
    const approvals = proposalKey('approvals', title);
    expectedState.state(approvals, '0');
    await change(approvals, '1', () => ask('POST', `${at}/approve`, {}, uploaders[0]));
    const end = ENDS[turn % ENDS.length]!;
    if (end === 'close') await change(key, 'closed', () => ask('PUT', at, { state_event: 'close' }));
    if (!end.startsWith('merge')) return;
    await change(key, 'merged', async () => {
      const merged = await ask('PUT', `${at}/merge`, { should_remove_source_branch: end !== 'merge' });
      if (merged.kind !== 'done') return merged;
      const { state, merge_commit_sha } = merged.value;
      if (state !== 'merged') return { kind: 'refused', reason: `${title} is ${state} when it was merged` };
      expectedState.committed(shared.id, 'main', merge_commit_sha, `${branch}/second.txt`);
      return merged;
    });
  });
}

/** Waits until a worker has rebased. @throws Error when it failed */
async function rebased(host: Host, look: () => Promise<Outcome<Record<string, unknown>>>): Promise<void> {
  while (host.alive) {
    const { rebase_in_progress, merge_error, title } = done(await look());
    if (merge_error !== null) throw new Error(`refused: the rebase of ${title} failed: ${merge_error}`);
    if (rebase_in_progress === false) return;
    await sleep(50);
  }
  throw new Error('the host is gone');
}
