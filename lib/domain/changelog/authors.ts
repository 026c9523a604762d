import type { ProjectRecord } from '../../records/projects.ts';
import type { Deps } from '../deps.ts';
import type { Entry } from './entries.ts';
import type { Author } from './section.ts';

/** Returns the users with the authors' email addresses, if confirmed, by address. */
export async function authorsOf(
  { store }: Deps,
  project: ProjectRecord,
  entries: ReadonlyMap<string, readonly Entry[]>,
): Promise<Map<string, Author>> {
  const emails = [...new Set([...entries.values()].flat().map((entry) => entry.authorEmail))];
  const users = await store.users.byEmails(emails);
  const known = users.flatMap((user, i) =>
    user !== undefined && user.confirmedAt !== null ? [{ user, email: emails[i]! }] : [],
  );
  const memberships = await store.members.getMany(
    { kind: 'project', id: project.id },
    known.map(({ user }) => user.id),
  );
  return new Map(
    known.map(({ user, email }, i) => {
      const owns = project.namespaceKind === 'user' && project.ownerId === user.id;
      return [email, { username: user.username, contributor: !owns && memberships[i] === undefined }];
    }),
  );
}
