import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ZERO_OID } from '../../lib/git/oid.ts';
import { call, commitFile, type Outcome, WorkTree } from './client.ts';
import { type ExpectedState, Fact } from './expected-state.ts';
import type { Host } from './host.ts';
import type { Project } from './people.ts';
import { pushTogether } from './push-together.ts';
import type { Fixtures } from './writers.ts';

/** One piece of work under a name of its own. */
type Step = (name: string) => Promise<Outcome<unknown>>;

/** A fork in so many stays. */
const KEPT = 6;

/**
 * Forks what everybody writes to, and now and then a fork of it, waits until it is filled, commits to it, and deletes
 * most of them. What was acknowledged of the source before is in it.
 */
export function forking(host: Host, { ada, shared }: Fixtures, expectedState: ExpectedState): Step {
  let kept: Project | undefined;
  let count = 0;
  return async (name) => {
    const source = count % 3 === 2 && kept !== undefined ? kept : shared;
    const known = [...(expectedState.commits.get(source.id) ?? [])].filter(([, branch]) => branch === 'main');
    const path = `fork-${name}`;
    const asked = await call(host.url, ada.token, 'POST', `/projects/${source.id}/fork`, {
      path,
      name: path,
    });
    if (asked.kind !== 'done') return asked;
    const fork: Project = { id: asked.value.id, fullPath: `${ada.username}/${path}` };
    const present = new Fact(true);
    expectedState.projects.set(fork.fullPath, { id: fork.id, present });
    const filled = await end(host, ada.token, fork);
    if (filled.kind !== 'done') return filled;
    for (const [commit] of known) expectedState.committed(fork.id, 'main', commit);
    const first = await commitFile(host.url, ada.token, fork, 'main', `${path}.txt`);
    if (first.kind === 'done') expectedState.committed(fork.id, 'main', first.value, `${path}.txt`);
    if (first.kind !== 'done') return first;
    if (count++ % KEPT === 0) {
      kept = fork;
      return first;
    }
    present.attempt(false);
    const deleted = await call(host.url, ada.token, 'DELETE', `/projects/${fork.id}`);
    present.settle(false, deleted);
    return deleted;
  };
}

/** Waits until a fork has its content. */
async function end(host: Host, token: string, { id, fullPath }: Project): Promise<Outcome<void>> {
  while (host.alive) {
    const now = await call(host.url, token, 'GET', `/projects/${id}`);
    if (now.kind !== 'done') return now;
    const { import_status, import_error } = now.value;
    if (import_status === 'finished') return { kind: 'done', value: undefined };
    if (import_status === 'failed') return { kind: 'refused', reason: `${fullPath}: ${import_error}` };
    await sleep(50);
  }
  return { kind: 'unclear', reason: 'the host is gone' };
}

/** Clones what is being written and maintained. Each is sound, and has what was acknowledged before it began. */
export function cloning(host: Host, { ada, shared, folder }: Fixtures, expectedState: ExpectedState): Step {
  const remote = { url: host.url, token: ada.token, fullPath: shared.fullPath };
  return async (name) => {
    const known = [...(expectedState.commits.get(shared.id)?.keys() ?? [])];
    const at = join(folder, `clone-${name}`);
    try {
      const clone = await WorkTree.clone(at, remote);
      await clone.git('fsck', '--full', '--strict');
      const held = new Set((await clone.git('rev-list', '--remotes')).split('\n'));
      const missing = known.filter((commit) => !held.has(commit));
      if (missing.length === 0) return { kind: 'done', value: undefined };
      return { kind: 'refused', reason: `a clone lacks ${missing.length} commits: ${missing[0]}` };
    } catch (error) {
      return { kind: host.alive ? 'refused' : 'unclear', reason: (error as Error).message };
    } finally {
      rmSync(at, { recursive: true, force: true });
    }
  };
}

/** Pushes of a branch and a tag by way of the staging area. Half of them are deleted again, and become garbage. */
export function uploading(host: Host, fixtures: Fixtures, expectedState: ExpectedState, round: number): Step {
  const { shared, uploadTree, uploaders } = fixtures;
  const { token } = uploaders[Math.floor(round / 2) % uploaders.length]!;
  const remote = { url: host.url, token, fullPath: shared.fullPath, gone: host.gone };
  let count = 0;
  return async (name) => {
    const names = [`refs/heads/large/${name}`, `refs/tags/large/${name}`];
    const { commit } = await uploadTree.commit('large');
    const pushed = await pushTogether(uploadTree, remote, shared, names, commit, expectedState, 'pushLarge');
    if (pushed.kind !== 'done' || count++ % 2 === 0) return pushed;
    const facts = names.map((ref) => expectedState.ref(shared.id, ref));
    for (const fact of facts) fact.attempt(ZERO_OID);
    const deleted = await uploadTree.push(remote, ...names.map((ref) => `:${ref}`));
    for (const fact of facts) fact.settle(ZERO_OID, deleted);
    return deleted;
  };
}
