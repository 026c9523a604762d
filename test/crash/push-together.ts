import type { Outcome, Remote, WorkTree } from './client.ts';
import type { Ledger } from './ledger.ts';
import type { Project } from './people.ts';

/** Several refs of one writer to one commit, all or none. */
export async function pushTogether(
  tree: WorkTree,
  remote: Remote,
  project: Project,
  names: readonly string[],
  commit: string,
  ledger: Ledger,
  how: 'push' | 'pushLarge' = 'push',
): Promise<Outcome<void>> {
  const facts = names.map((name) => ledger.ref(project.id, name));
  const groups = ledger.together.get(project.id) ?? [];
  if (!groups.some(([first]) => first === names[0])) ledger.together.set(project.id, [...groups, names]);
  for (const fact of facts) fact.attempt(commit);
  const outcome = await tree[how](remote, ...names.map((name) => `HEAD:${name}`));
  for (const fact of facts) fact.settle(commit, outcome);
  return outcome;
}
