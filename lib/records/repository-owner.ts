/** What owns a repository beside the code of a project. Such a repository has no rows before its first write. */
export interface RepositoryOwner {
  readonly kind: 'project-wiki' | 'group-wiki' | 'snippet';
  /** Of the project, the group or the snippet. */
  readonly id: number;
}

/** The id of an owner's repository, so that nothing has to point to it. Repositories of code have ULIDs for ids. */
export const repositoryIdOf = ({ kind, id }: RepositoryOwner): string => `${kind}-${id}`;

const OWNED = /^(project-wiki|group-wiki|snippet)-([1-9]\d{0,15})$/;

/** The inverse of {@link repositoryIdOf}; undefined for the code of a project. */
export function ownerOfRepository(repositoryId: string): RepositoryOwner | undefined {
  const [, kind, id] = OWNED.exec(repositoryId) ?? [];
  return kind === undefined ? undefined : { kind: kind as RepositoryOwner['kind'], id: Number(id) };
}
