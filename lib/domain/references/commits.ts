/** Finds commits that texts refer to. Reads repositories: it is loaded where a text names one. */
import { titleOf } from '../../git/commit-title.ts';
import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import type { ReferenceLink } from '../markdown/html.ts';
import type { CommitReference } from '../markdown/references.ts';
import { codeOf } from '../repository/read.ts';
import type { Finder, Reading, Targets } from './reading.ts';

/** Commits of one text that are looked up, and projects that they are in; others stay text. */
const MAX_COMMITS = 50;
const MAX_PROJECTS = 10;
/** Characters of a commit's id that links show. */
const SHORT = 8;

interface FoundCommit {
  readonly reference: CommitReference;
  readonly access: ProjectAccess;
  readonly git: GitRepository;
  readonly commit: Oid;
}

/** By the beginning of their ids, where it is that of one commit alone. One after the other in each repository. */
export async function* commitsAt(
  deps: Deps,
  targets: readonly Targets<CommitReference>[],
  { actor }: Reading,
): AsyncGenerator<FoundCommit> {
  let left = MAX_COMMITS;
  const readable = targets.filter(({ access }) => can(actor, access, 'read_code')).slice(0, MAX_PROJECTS);
  for (const { access, references } of readable) {
    const git = codeOf(deps, access);
    for (const reference of references) {
      if (left-- <= 0) return;
      const found = await git.resolve(reference.sha);
      // A branch may have the name.
      if (found?.commit.startsWith(reference.sha)) yield { reference, access, git, commit: found.commit };
    }
  }
}

export const findCommits: Finder<CommitReference> = async (deps, targets, reading) => {
  const { baseUrl, project } = reading;
  const links = new Map<string, ReferenceLink>();
  for await (const { reference, access, git, commit } of commitsAt(deps, targets, reading)) {
    const { source } = reference;
    const { id, fullPath } = access.project;
    links.set(source, {
      href: source.startsWith(baseUrl) ? source : `${baseUrl}/${fullPath}/-/commit/${commit}`,
      text: `${id === project?.project.id ? '' : `${fullPath}@`}${commit.slice(0, SHORT)}`,
      title: titleOf((await git.commit(commit)).message),
      class: 'commit',
      data: { 'reference-type': 'commit', project: id, commit },
    });
  }
  return links;
};
