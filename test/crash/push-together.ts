import type { Outcome, Remote, WorkTree } from './client.ts';
import type { ExpectedState } from './expected-state.ts';
import type { Project } from './people.ts';

/** Several refs of one writer to one commit, all or none. */
export async function pushTogether(
  tree: WorkTree,
  remote: Remote,
  project: Project,
  names: readonly string[],
  commit: string,
  expectedState: ExpectedState,
  how: 'push' | 'pushLarge' = 'push',
): Promise<Outcome<void>> {
  const facts = names.map((name) => expectedState.ref(project.id, name));
  const groups = expectedState.together.get(project.id) ?? [];
  if (!groups.some(([first]) => first === names[0]))
    expectedState.together.set(project.id, [...groups, names]);
  for (const fact of facts) fact.attempt(commit);
  const outcome = await tree[how](remote, ...names.map((name) => `HEAD:${name}`));
  for (const fact of facts) fact.settle(commit, outcome);
  return outcome;
}
